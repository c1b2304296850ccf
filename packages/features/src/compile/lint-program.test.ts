import { describe, expect, it } from "vitest";
import { lintProgram } from "./lint-program.ts";

/** @param compute the text of a function as the bundler writes it @param before the declarations of its modules */
function lint(compute: string, before = ""): string[] {
  const written = `"use strict";var feature=(function(){${before};const x={compute:${compute}}.compute;return x})();`;
  const origin = (offset: number): { file: string; line: number } => ({ file: "x.ts", line: offset });
  return lintProgram({ written, origin }).map(({ message }) => message);
}

describe("lintProgram", () => {
  it.each([
    ["Date.now()", "`Date`"],
    ["new Date(0)", "`Date`"],
    ["Math.random()", "`Math.random`"],
    ["Math.pow(2,3)", "`Math.pow`"],
    ["Math[`random`]()", "`Math."],
    ["[1].map(Math.abs,Math)", "`Math`: name its function"],
    ["2**3", "`**`"],
    ["Intl", "`Intl`"],
    ["`a`.normalize()", "`normalize`"],
    ["`a`['localeCompare'](`b`)", "`localeCompare`"],
    ["`a`.toLowerCase()", "use lowerAscii"],
    ["(1).toLocaleString()", "`toLocaleString`"],
    ["/\\p{L}/u.test(`a`)", "`\\p{…}`"],
    ["/a/iu.test(`a`)", "the flags `i` and `u`"],
    ["/^[a--b]+$/v.test(`a`)", "can't check whether it backtracks"],
    ["new RegExp(`\\\\p{L}`,`iu`)", "`RegExp`: write the expression as a literal"],
    ["RegExp(`a`)", "`RegExp`"],
    ["process.env", "`process`"],
    ["fetch(`x`)", "`fetch`"],
    ["globalThis", "`globalThis`"],
    ["eval(`1`)", "`eval`"],
    ["(()=>{}).constructor(`1`)()", "`constructor`"],
    ["{}.__proto__", "`__proto__`"],
    ["import(`x`)", "`import()`"],
    ["`an import`", "the word `import`"],
    ["['import'].length", "the word `import`"],
    ["({}).import", "the word `import`"],
    ["/an import/.test(`a`)", "the word `import`"],
    ["new Error().stack", "`stack`"],
    ["`a`.match(`(a+)+$`)", "`match`: it makes an expression of a text"],
    ["`a`[`search`](`(a+)+$`)", "`search`: it makes an expression of a text"],
    ["[...`a`.matchAll(`(a+)+$`)]", "`matchAll`: it makes an expression of a text"],
    ["Object.assign({},{})", "`assign`"],
    ["[].fill.call(()=>1,2)", "`call`"],
  ])("reports %s", (expression, message) => {
    const found = lint(`()=>(${expression})`);
    expect(found.join()).toContain(message);
  });

  it.each(["^(a+)+$", "^(a|a)*$", String.raw`\s+$`, "a+b", "^.*a.*b", String.raw`(\w+)\1`, "^(a|aa)+$"])(
    "reports the expression %s, which backtracks",
    (source) => expect(lint(`()=>(/${source}/.test(\`a\`))`).join()).toContain("makes it backtrack"),
  );

  it.each(["^[^]*x", String.raw`^\s*x`, "^.*x"])("reports the expression %s with the flag m", (source) =>
    expect(lint(`()=>(/${source}/m.test(\`a\`))`).join()).toContain("without the flag `m`"),
  );

  it.each([
    "x(?=.*y)",
    "(?=[^]*z)x",
    "(?=a*b)",
    "(?<=a.*)b",
    "^(?:(?!.*z).)*$",
    "^(?:.(?<!^z.*))*$",
    "^(?=(a+)+b)",
    "(?!(?:[)]|(a){10})b)",
    "(?=a{2,}b)",
    String.raw`^(a*)(?:(?=\1b)a)*`,
  ])("reports the expression %s, whose lookaround repeats", (source) =>
    expect(lint(`()=>(/${source}/.test(\`a\`))`).join()).toContain("a repetition in a lookaround"),
  );

  it.each([
    String.raw`^\s+$`,
    "^a{0,64}b",
    String.raw`^[a-z]+(?:\.[a-z]+)*$`,
    "[A-Z]",
    String.raw`^(\d+)-(\d+)$`,
    "su$",
    String.raw`^(?:(?!ab|[*+]|\(|c{2}d?)[a-z])+$`,
  ])("accepts the expression %s, which does not", (source) =>
    expect(lint(`()=>(/${source}/.test(\`a\`))`)).toEqual([]),
  );

  it.each([
    ["async()=>true", "`async`"],
    ["()=>{try{return 1}catch{return 2}}", "`try`"],
    ["function(){return this}", "`this`"],
    ["o=>{with(o){return a}}", "`with`"],
  ])("reports %s", (compute, message) => expect(lint(compute).join()).toContain(message));

  it.each([
    ["()=>n", "let n=0"],
    ["()=>{all.push(1)}", "const all=[]"],
    ["()=>{seen.n=1}", "const seen={}"],
    ["()=>{seen.n.m++}", "const seen={n:{m:0}}"],
    ["()=>expression.test(`a`)", "const expression=/a/g"],
    ["()=>remember(cache,1)", "const cache=new Map;function remember(cache,v){cache.set(1,v)}"],
    ["()=>{const m=cache;m.set(1,2)}", "const cache=new Map"],
    ["()=>{const{m}=seen;m.set(1,2)}", "const seen={m:new Map}"],
    ["()=>{const m=seen.m;m.set(1,2)}", "const seen={m:new Map}"],
    ["()=>{seen.get(1).push(2)}", "const seen=new Map([[1,[]]])"],
    ["()=>{Object.assign(seen,{n:1})}", "const seen={}"],
    ["()=>{add({seen})}", "const seen=[];function add(o){o.seen.push(1)}"],
    ["()=>add(other)", "const seen=[];const other=seen;function add(list){list.push(1)}"],
    ["()=>add(made)", "function make(){return[]}const made=make();function add(list){list.push(1)}"],
    ["()=>slow(1)", "function memoize(f){const m=new Map;return x=>m.get(x)??m.set(x,f(x))}const slow=memoize(n=>n)"],
    ["()=>add(frozen)", "const frozen=Object.freeze([new Set]);function add(list){list[0].add(1)}"],
    ["list=>add(list)(seen)", "const seen=[];const add=list=>list.push(1)"],
  ])("reports the state that %s would keep between events", (compute, before) => {
    expect(lint(compute, before).join()).toContain("it would keep state between events");
  });

  it.each(["i=>i.a??``", "i=>!i.a", "({a})=>a||null", "({a})=>a?1:0", "({a:b})=>{if(b)return 1}", "i=>i.a===true"])(
    "reports that %s merges the states of a reading",
    (compute) => expect(lint(compute).join()).toContain("test its `state`"),
  );

  it("accepts exact code", () => {
    const helpers =
      "const LIMIT=3;const T=new Map;T.set(`a`,1);function f(n){let sum=0;for(const x of n)sum+=x;return sum}";
    const compute =
      "({a,b})=>{if(a.state!==`observed`)return null;const seen=new Set;seen.add(a.value);label:for(;;)break label;" +
      "return b.state===`observed`&&/^a/i.test(b.value)?Math.max(f([1,LIMIT]),T.get(`a`)??0,seen.size):`abc`.replace(/b/g,``).length}";
    expect(lint(compute, helpers)).toEqual([]);
  });

  it.each([
    ["()=>any(NAMES)", "const NAMES=Object.freeze([`a`,`b`]);function any(list){return list.length}"],
    ["()=>any(RULES)", "const RULES=Object.freeze([Object.freeze({n:1})]);function any(list){return list.length}"],
    ["()=>any([...NAMES])", "const NAMES=[`a`];function any(list){return list.length}"],
    ["x=>NAMES.includes(x)&&x in KINDS&&[`a`].concat(NAMES)", "const NAMES=[`a`],KINDS={a:1}"],
    ["x=>new Set(NAMES).size+Object.keys(KINDS).length", "const NAMES=[`a`],KINDS={a:1}"],
    ["x=>{for(const n of NAMES)if(n===x)return KINDS[n]}", "const NAMES=[`a`],KINDS={a:1}"],
    ["x=>{const{a}=KINDS;return use(a,LIMITS.a.n)}", "const KINDS={a:1},LIMITS={a:{n:1}};function use(n){return n}"],
    [
      "x=>use(DAY,PATTERN,f)",
      "function day(s){if(!s)return undefined;return s*2}const DAY=day(1),PATTERN=/a/;const f=n=>n;function use(n){return n}",
    ],
    ["x=>isBig(x)", "const atLeast=n=>x=>x>=n;const isBig=atLeast(3)"],
    ["x=>{const list=[];add(list,x);return list.length}", "const other=[];function add(list,x){list.push(x)}"],
    ["other=>{other.push(1)}", "const other=[]"],
  ])("accepts that %s only reads what modules declare", (compute, before) => {
    expect(lint(compute, before)).toEqual([]);
  });

  it.each(["({call})=>call.state", "i=>i.match.state===i.search.state"])(
    "accepts inputs with the names of methods: %s",
    (compute) => expect(lint(compute)).toEqual([]),
  );

  it("says where in the sources a finding is", () => {
    const written = '"use strict";var feature=(function(){return Date})();';
    const origin = (offset: number): { file: string; line: number } => ({ file: "x.ts", line: offset });
    expect(lintProgram({ written, origin })).toMatchObject([{ origin: { line: written.indexOf("Date") } }]);
  });
});
