import { describe, expect, it } from "vitest";
import type { ManifestInput } from "../manifest.ts";
import { type ParsedEvent, readEvent } from "./readings.ts";

const input = (path: string, rest: Partial<ManifestInput> = {}): ManifestInput => ({
  name: "x",
  path: path.split("."),
  type: "boolean",
  sensitivity: "low",
  ...rest,
});
const event = (probes: string, platform: ParsedEvent["platform"] = "android"): ParsedEvent => ({
  platform,
  probes: JSON.parse(probes) as Record<string, unknown>,
});
const success = (data: string): ParsedEvent => event(`{"p":{"status":"success","data":${data}}}`);
const found = input("p.found");

describe("readEvent", () => {
  it.each([
    ["an observed false", success('{"found":false}'), { state: "observed", value: false }],
    ["a probe that is absent", event("{}"), { state: "omitted", why: "probe-absent" }],
    ["a field that is absent", success("{}"), { state: "omitted", why: "field-absent" }],
    [
      "a skipped probe",
      event('{"p":{"status":"skipped","reason":"consent"}}'),
      { state: "skipped", reason: "consent" },
    ],
    ["a timeout", event('{"p":{"status":"timeout"}}'), { state: "timeout" }],
    ["an error", event('{"p":{"status":"error","error":"x"}}'), { state: "error" }],
    ["a null", success('{"found":null}'), { state: "departed", type: "null" }],
    ["a text for a boolean", success('{"found":"false"}'), { state: "departed", type: "string" }],
  ] as const)("keeps %s apart from the other states", (_, from, reading) => {
    expect(readEvent(from)(found)).toEqual(reading);
  });

  it("returns departed for an array with an item of another type", () => {
    const list = input("p.list", { type: "string[]" });
    expect(readEvent(success('{"list":["a",1]}'))(list)).toEqual({ state: "departed", type: "array" });
    expect(readEvent(success('{"list":["a"]}'))(list)).toEqual({ state: "observed", value: ["a"] });
  });

  it("reads a member of an object, and returns departed if the value is not an object", () => {
    const member = input("p.build.sdk", { type: "number" });
    expect(readEvent(success('{"build":{"sdk":35}}'))(member)).toEqual({ state: "observed", value: 35 });
    expect(readEvent(success('{"build":{}}'))(member)).toEqual({ state: "omitted", why: "field-absent" });
    expect(readEvent(success('{"build":"35"}'))(member)).toEqual({ state: "departed", type: "string" });
  });

  it("masks a field that the purpose does not cover, unless the event omits the field or its probe", () => {
    const nothing = (): boolean => false;
    expect(readEvent(success('{"found":true}'), nothing)(found)).toEqual({ state: "masked" });
    expect(readEvent(event('{"p":{"status":"timeout"}}'), nothing)(found)).toEqual({ state: "masked" });
    expect(readEvent(success("{}"), nothing)(found)).toEqual({ state: "omitted", why: "field-absent" });
    expect(readEvent(event("{}"), nothing)(found)).toEqual({ state: "omitted", why: "probe-absent" });
  });

  it("returns not-observed for a field on a platform where it is constant, and observed on the other platform", () => {
    const constant = { ...found, constantOn: ["ios"] } as const;
    const probes = '{"p":{"status":"success","data":{"found":false}}}';
    expect(readEvent(event(probes, "ios"))(constant)).toEqual({ state: "not-observed" });
    expect(readEvent(event(probes, "android"))(constant)).toEqual({ state: "observed", value: false });
  });

  it("returns not-observed for the fields of a probe that did not do its work", () => {
    const scanned = { ...found, performedBy: "scanPerformed" };
    expect(readEvent(success('{"scanPerformed":false,"found":false}'))(scanned)).toEqual({ state: "not-observed" });
    expect(readEvent(success('{"scanPerformed":true,"found":false}'))(scanned)).toMatchObject({ value: false });
  });

  it("does not read members of a prototype", () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    const absent = { state: "omitted", why: "field-absent" };
    for (const name of names) {
      expect(readEvent(success("{}"))({ ...found, path: ["p", name] })).toEqual(absent);
      expect(readEvent(event("{}"))({ ...found, path: [name, "x"] })).toMatchObject({ why: "probe-absent" });
      expect(readEvent(success('{"build":{}}'))({ ...found, path: ["p", "build", name] })).toEqual(absent);
    }
    const own = event('{"__proto__":{"status":"success","data":{"__proto__":true}}}');
    expect(readEvent(own)({ ...found, path: ["__proto__", "__proto__"] })).toEqual({ state: "observed", value: true });
  });

  it("reads a number of 20 digits as the nearest number, and returns departed if it is written as a text", () => {
    const count = input("p.found", { type: "number" });
    const digits = "12345678901234567890";
    expect(readEvent(success(`{"found":${digits}}`))(count)).toEqual({ state: "observed", value: Number(digits) });
    expect(readEvent(success(`{"found":"${digits}"}`))(count)).toEqual({ state: "departed", type: "string" });
  });

  it("reads an array of 64 levels without recursion", () => {
    const deep = success(`{"found":${"[".repeat(64)}${"]".repeat(64)}}`);
    expect(readEvent(deep)(found)).toEqual({ state: "departed", type: "array" });
  });
});
