import { describe, expect, it } from "vitest";
import { lintProgram, lintText } from "./lint-program.ts";

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
    "(?=(?:a{9}b){9}c)",
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
    "^(?:(?=a{9}(?:bc)?)[a-z])+$",
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
    ["()=>n++", "var n=0"],
    ["()=>{[n]=[1]}", "var n=0"],
    ["()=>{for(n of [1]);}", "var n=0"],
    ["()=>{f.n=1}", "function f(){}"],
    ["(a,b=f.n++)=>b", "function f(){}"],
    ["()=>f()", "const f=function g(){return g.n=1}"],
    ["()=>{seen.n.m++}", "const seen=Object.freeze({n:f});function f(){}"],
    ["()=>expression.test(`a`)", "const expression=/a/g"],
    ["f()", "function f(){let last;return v=>last=v}"],
  ])("reports the state that %s would keep between events after %s", (compute, before) => {
    expect(lint(compute, before).join()).toMatch(/it would keep state between events|move the rest into a function/);
  });

  it.each([
    "const all=[]",
    "const cache=new Map",
    "const seen=Object.freeze({m:new Map})",
    "const seen=Object.freeze([[]])",
    "const seen=Object.freeze([...[[]]])",
    "const seen=Object.freeze({get a(){let n=0;return()=>n++}}).a",
    "const{seen=f}=Object.freeze({})",
    "const[seen=f]=Object.freeze([])",
    "const[...seen]=Object.freeze([])",
    "const{...seen}=Object.freeze({n:0})",
    "const made=make();function make(){return[]}",
    "const slow=memoize(n=>n);function memoize(f){const m=new Map;return x=>m.get(x)??m.set(x,f(x))}",
    "const next=(function*(){let n=0;for(;;)yield n++})()",
    "const f=(()=>(()=>{const seen=new Set;return x=>seen[`ad`+`d`](x)})())()",
    "const f=(n=>()=>n++)(0)",
    "const f=make`a`;function make(){return[]}",
    "for(const n of [1]);",
    "const a=b=1",
  ])("reports that a module has more than functions and constants: %s", (before) => {
    expect(lint("()=>1", before).join()).toContain("outside of functions there are only");
  });

  it.each(["class C{static n=0}", "const C=class{}"])("reports %s", (before) =>
    expect(lint("()=>1", before).join()).toContain("`class`: write functions"),
  );

  it("reports a name of the language that a program declares", () => {
    expect(lint("()=>1", "const Object=0").join()).toContain("`Object` is a name of the language");
  });

  it.each(["i=>i.a??``", "i=>!i.a", "({a})=>a||null", "({a})=>a?1:0", "({a:b})=>{if(b)return 1}", "i=>i.a===true"])(
    "reports that %s merges the states of a reading",
    (compute) => expect(lint(compute).join()).toContain("test its `state`"),
  );

  it("accepts exact code", () => {
    const helpers =
      "const LIMIT=3;const T=Object.freeze({a:1});function f(n){let sum=0;for(const x of n)sum+=x;return sum}";
    const compute =
      "({a,b})=>{if(a.state!==`observed`)return null;const seen=new Set;seen.add(a.value);label:for(;;)break label;" +
      "return b.state===`observed`&&/^a/i.test(b.value)?Math.max(f([1,LIMIT]),T.a??0,seen.size):`abc`.replace(/b/g,``).length}";
    expect(lint(compute, helpers)).toEqual([]);
  });

  it.each([
    ["()=>any(NAMES)", "const NAMES=Object.freeze([`a`,`b`]);function any(list){return list.length}"],
    [
      "()=>any(RULES)",
      "const RULES=Object.freeze([Object.freeze({n:1,f})]);const f=()=>1;function any(list){return list}",
    ],
    ["x=>NAMES.includes(x)", "const A=Object.freeze([`a`]);const NAMES=Object.freeze([...A,A[0],`b${A.length}`])"],
    ["x=>DAY*x", "const HOUR=36e5,DAY=-HOUR*24?1:Number.MAX_SAFE_INTEGER;const PATTERN=/a/"],
    ["x=>{const list=[];add(list,x);return list.length}", "const other=1;function add(list,x){list.push(x)}"],
    ["other=>{other.n=1;{const f=[];f[0]=1}}", "const other=1;function f(){}"],
    ["list=>{let n=0;list.forEach(x=>{n+=x});return n}", ""],
    ["helper", "function helper(){}"],
  ])("accepts %s after %s", (compute, before) => {
    expect(lint(compute, before)).toEqual([]);
  });

  it.each([
    "var feature=()=>{let n=0;for(const x of[1])n+=x;return n};",
    "var feature=(function(){const LIMIT=3;return()=>{let n=LIMIT;return n}})();",
    "var feature=(()=>(()=>()=>1)())();",
  ])("accepts a program in JSON: %s", (text) => expect(lintText(text)).toEqual([]));

  it.each([
    "var feature=(()=>(()=>{let last;return()=>last=1})())();",
    "var feature=(()=>{const s=new Set;const k=`ad`+`d`;return()=>s[k](1)})();",
    "let n=0;var feature=()=>n++;",
  ])("reports a program in JSON that keeps state: %s", (text) => expect(lintText(text)).not.toEqual([]));

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
