import { describe, expect, it } from "vitest";
import { CATALOG } from "./catalog.ts";
import { checkAgainstCatalog, type Departure } from "./check.ts";

/**
 * Returns the departures of an event whose `probes` have this text. The function parses a text, because an object
 * literal can't create a member `__proto__`.
 */
function departuresOf(probes: string): readonly Departure[] {
  return checkAgainstCatalog(JSON.parse(probes) as Record<string, unknown>);
}

const network = (data: string): string => `{"network":{"status":"success","data":${data}}}`;

describe("a departure from the catalog", () => {
  it("is not found if every field agrees with the catalog", () => {
    const sample = { string: "", boolean: false, number: 0.5, "string[]": ["", "a"], "number[]": [], object: {} };
    const probes = CATALOG.map(({ id, fields }) => {
      const data = Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, sample[type]]));
      return [id, { status: "success", data }];
    });
    expect(checkAgainstCatalog(Object.fromEntries(probes))).toEqual([]);
  });

  it("names an unknown probe, whether or not its outcome is a success", () => {
    const unknown = { kind: "unknown-probe", path: ["clipboard"], found: "object" };
    expect(departuresOf(`{"clipboard":{"status":"success","data":{"a":1}}}`)).toEqual([unknown]);
    expect(departuresOf(`{"clipboard":{"status":"skipped","reason":"disabled"}}`)).toEqual([unknown]);
  });

  it("names an unknown field with its type", () => {
    expect(departuresOf(network(`{"a":1,"b":"","c":false,"d":null,"e":[],"f":{}}`))).toEqual(
      ["number", "string", "boolean", "null", "array", "object"].map((found, index) => {
        return { kind: "unknown-field", path: ["network", "abcdef".charAt(index)], found };
      }),
    );
  });

  it.each([
    ["isMetered", "1", "number"],
    ["isMetered", `"false"`, "string"],
    ["isMetered", "null", "null"],
    ["connectionType", "true", "boolean"],
    ["proxyPort", `"8080"`, "string"],
    ["interfaceNames", `"wlan0"`, "string"],
    ["interfaceNames", `["wlan0",1]`, "array"],
    ["interfaceNames", `{"0":"wlan0"}`, "object"],
  ])("names a field of the wrong type: %s is %s", (field, value, found) => {
    expect(departuresOf(network(`{"${field}":${value}}`))).toEqual([
      { kind: "wrong-type", path: ["network", field], found },
    ]);
  });

  it("names an item of the wrong type in an array of numbers", () => {
    const data = `{"isEmulator":false,"isDebuggerAttached":false,"developerModeEnabled":false,"openReverseEngineeringPorts":[22,"23"]}`;
    expect(departuresOf(`{"os_integrity":{"status":"success","data":${data}}}`)).toEqual([
      { kind: "wrong-type", path: ["os_integrity", "openReverseEngineeringPorts"], found: "array" },
    ]);
  });

  it("names each required field that is missing", () => {
    const missing = (field: string): Departure => ({
      kind: "missing-field",
      path: ["os_integrity", field],
      found: "absent",
    });
    expect(departuresOf(`{"os_integrity":{"status":"success","data":{"isEmulator":false}}}`)).toEqual([
      missing("isDebuggerAttached"),
      missing("developerModeEnabled"),
    ]);
  });

  it("is found for members of androidBuild that the catalog does not list", () => {
    const otherFields = `"manufacturer":"m","model":"m","brand":"b","systemName":"s","systemVersion":"1","isTablet":false`;
    const build = (value: string): string =>
      `{"device_identity":{"status":"success","data":{${otherFields},"androidBuild":${value}}}}`;
    expect(departuresOf(build(`{"sdkInt":"36","serial":"x","id":"y"}`))).toEqual([
      { kind: "wrong-type", path: ["device_identity", "androidBuild", "sdkInt"], found: "string" },
      { kind: "unknown-field", path: ["device_identity", "androidBuild", "serial"], found: "string" },
    ]);
    expect(departuresOf(build("[]"))).toEqual([
      { kind: "wrong-type", path: ["device_identity", "androidBuild"], found: "array" },
    ]);
  });
});

describe("the five states", () => {
  it("are not merged: required fields are missing only from a success", () => {
    expect(departuresOf(`{}`)).toEqual([]);
    expect(departuresOf(`{"audio_latency":{"status":"skipped","reason":"disabled"}}`)).toEqual([]);
    expect(departuresOf(`{"audio_latency":{"status":"timeout"}}`)).toEqual([]);
    expect(departuresOf(`{"audio_latency":{"status":"error","error":"failed"}}`)).toEqual([]);
    expect(departuresOf(`{"audio_latency":{"status":"success","data":{"measured":false}}}`)).toEqual([]);
    expect(departuresOf(`{"audio_latency":{"status":"success","data":{}}}`)).toEqual([
      { kind: "missing-field", path: ["audio_latency", "measured"], found: "absent" },
    ]);
  });

  it("are not merged: null is neither absent nor false", () => {
    expect(departuresOf(`{"audio_latency":{"status":"success","data":{"measured":null}}}`)).toEqual([
      { kind: "wrong-type", path: ["audio_latency", "measured"], found: "null" },
    ]);
  });
});

describe("a name that objects inherit", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("is unknown like any other: %s", (name) => {
    expect(departuresOf(`{"${name}":{"status":"timeout"}}`)).toEqual([
      { kind: "unknown-probe", path: [name], found: "object" },
    ]);
    expect(departuresOf(network(`{"${name}":{"isMetered":1}}`))).toEqual([
      { kind: "unknown-field", path: ["network", name], found: "object" },
    ]);
  });

  it("does not count as present if it is on the prototype of the data", () => {
    expect(
      departuresOf(`{"audio_latency":{"status":"success","data":{"__proto__":{"measured":true}}}}`),
    ).toContainEqual({ kind: "missing-field", path: ["audio_latency", "measured"], found: "absent" });
  });
});
