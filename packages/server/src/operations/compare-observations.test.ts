import { expect, it } from "vitest";
import { compareObservations, differencesOf } from "./compare-observations.ts";

const compareAll = (left: string, right: string) =>
  compareObservations(JSON.parse(left) as object as never, JSON.parse(right) as object as never);
const compare = (left: string, right: string) => differencesOf(compareAll(left, right));
const probe = (outcome?: string) => `{"probes": {${outcome === undefined ? "" : `"network": ${outcome}`}}}`;
const data = (members: string) => probe(`{"status": "success", "data": {${members}}}`);
const state = (outcome?: string) => compare(probe(outcome), probe('{"status": "success", "data": {"a": 1}}'))[0]?.left;

it("equal events differ in no path, even if they differ in the order of members, in white space, or in 1 and 1.0", () => {
  expect(compare(data('"a": 1, "b": [{"c": null}]'), data('"b":[{"c":null}],"a":1.0'))).toEqual([]);
});

it("omitted, skipped, timeout and error are distinct states", () => {
  expect(state()).toEqual({ state: "omitted" });
  expect(state('{"status": "skipped", "reason": "disabled"}')).toEqual({ state: "skipped", reason: "disabled" });
  expect(state('{"status": "timeout"}')).toEqual({ state: "timeout" });
  expect(state('{"status": "error", "error": "e"}')).toEqual({ state: "error", error: "e" });
  const reasons = ["a", "b"].map((reason) => probe(`{"status": "skipped", "reason": "${reason}"}`)) as [string, string];
  expect(compare(...reasons).map(({ path }) => path)).toEqual(["/probes/network"]);
});

it("an observed false is neither omitted nor null, nor the text of a state", () => {
  const path = "/probes/network/data/a";
  const [observed, omitted] = [{ state: "observed", value: false }, { state: "omitted" }];
  expect(compare(data('"a": false'), data(""))).toEqual([{ path, left: observed, right: omitted }]);
  expect(compare(data('"a": false'), data('"a": null'))).toMatchObject([{ path, left: observed }]);
  expect(compare(data('"a": "omitted"'), data(""))).toHaveLength(1);
});

it("a probe without data is one difference, and its fields do not count as omitted", () => {
  expect(compare(data('"a": 1, "b": 2'), probe('{"status": "timeout"}'))).toEqual([
    { path: "/probes/network", left: { state: "success" }, right: { state: "timeout" } },
  ]);
});

it("members of objects and arrays are compared one by one, with escaped names", () => {
  const [left, right] = ['"o": {"a/b": [1, 2], "e": {}}', '"o": {"a/b": [1, 3, 4], "e": []}'];
  expect(compare(data(left), data(right)).map(({ path }) => path)).toEqual([
    "/probes/network/data/o/a~1b/1",
    "/probes/network/data/o/a~1b/2",
    "/probes/network/data/o/e",
  ]);
});

it("members of the envelope and names of Object's prototype are compared", () => {
  const [left, right] = ['{"session_id": "a", "probes": {}}', '{"session_id": "b", "n": 0, "probes": {}}'];
  expect(compare(left, right).map(({ path }) => path)).toEqual(["/session_id", "/n"]);
  expect(compare(data('"__proto__": 1'), data(""))).toHaveLength(1);
  expect(compare(data('"toString": 1'), data(""))).toHaveLength(1);
});

it("fields are equal or different if both events observed them, and otherwise not comparable", () => {
  const [left, right] = ['"a": false, "b": 1, "c": 2, "d": {}, "l": [1]', '"a": false, "b": 2, "d": {}, "l": [1, 2]'];
  const verdicts = (one: string, other: string) =>
    compareAll(one, other).map(({ path, verdict }) => `${path} ${verdict}`);
  expect(verdicts(data(left), data(right))).toEqual([
    "/probes/network/data/a equal",
    "/probes/network/data/b different",
    "/probes/network/data/c not-comparable",
    "/probes/network/data/d equal",
    "/probes/network/data/l/0 equal",
    "/probes/network/data/l/1 not-comparable",
  ]);
  const states = ['{"status": "skipped", "reason": "a"}', '{"status": "timeout"}', '{"status": "error", "error": "e"}'];
  for (const one of [undefined, ...states, '{"status": "success", "data": {}}']) {
    for (const other of states) {
      expect(verdicts(probe(one), probe(other))).toEqual(["/probes/network not-comparable"]);
    }
  }
});
