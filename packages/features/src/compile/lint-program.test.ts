import { describe, expect, it } from "vitest";
import { lintProgram } from "./lint-program.ts";

/** @param compute is a function as the bundler writes it; `before` is what its modules declare. */
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
    ["process.env", "`process`"],
    ["fetch(`x`)", "`fetch`"],
    ["globalThis", "`globalThis`"],
    ["eval(`1`)", "`eval`"],
    ["(()=>{}).constructor(`1`)()", "`constructor`"],
    ["{}.__proto__", "`__proto__`"],
    ["import(`x`)", "`import()`"],
    ["new Error().stack", "`stack`"],
  ])("reports %s", (expression, message) => {
    const found = lint(`()=>(${expression})`);
    expect(found.join()).toContain(message);
  });

  it.each([
    ["async()=>true", "`async`"],
    ["()=>{try{return 1}catch{return 2}}", "`try`"],
    ["function(){return this}", "`this`"],
  ])("reports %s", (compute, message) => expect(lint(compute).join()).toContain(message));

  it.each([
    ["()=>n", "let n=0"],
    ["()=>{all.push(1)}", "const all=[]"],
    ["()=>{seen.n=1}", "const seen={}"],
    ["()=>{seen.n.m++}", "const seen={n:{m:0}}"],
    ["()=>expression.test(`a`)", "const expression=/a/g"],
  ])("reports the state that %s would keep between events", (compute, before) => {
    expect(lint(compute, before).join()).toContain("it would keep state between events");
  });

  it.each(["i=>i.a??``", "i=>!i.a", "({a})=>a||null", "({a})=>a?1:0", "({a:b})=>{if(b)return 1}", "i=>i.a===true"])(
    "reports that %s merges the states of a reading",
    (compute) => expect(lint(compute).join()).toContain("test its `state`"),
  );

  it("accepts what is exact", () => {
    const helpers =
      "const LIMIT=3;const T=new Map;T.set(`a`,1);function f(n){let sum=0;for(const x of n)sum+=x;return sum}";
    const compute =
      "({a,b})=>{if(a.state!==`observed`)return null;const seen=new Set;seen.add(a.value);label:for(;;)break label;" +
      "return b.state===`observed`&&/^a/i.test(b.value)?Math.max(f([1,LIMIT]),T.get(`a`)??0,seen.size):`abc`.replace(/b/g,``).length}";
    expect(lint(compute, helpers)).toEqual([]);
  });

  it("says where in the sources a finding is", () => {
    const written = '"use strict";var feature=(function(){return Date})();';
    const origin = (offset: number): { file: string; line: number } => ({ file: "x.ts", line: offset });
    expect(lintProgram({ written, origin })).toMatchObject([{ origin: { line: written.indexOf("Date") } }]);
  });
});
