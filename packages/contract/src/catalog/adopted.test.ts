import { describe, expect, it } from "vitest";
import { adoptFields, checkAdopted, NOTHING_ADOPTED } from "./adopted.ts";
import type { FieldPath } from "./check.ts";

/**
 * Adopts the paths, and returns the departures of a `device_identity` with this data as `<path> <kind>`. `data` is a
 * JSON text.
 */
function departuresOf(data: string, ...paths: readonly FieldPath[]): string[] {
  const adoption = adoptFields(paths);
  if (!adoption.ok) throw new Error("an unknown path");
  const probes = JSON.parse(`{"device_identity":{"status":"success","data":${data}}}`) as Record<string, unknown>;
  return checkAdopted(probes, adoption.adopted).map(({ path, kind }) => `${path.join(" > ")} ${kind}`);
}

const SDK_INT = ["device_identity", "androidBuild", "sdkInt"];
const BUILD = ["device_identity", "androidBuild"];
const MODEL = ["device_identity", "model"];

describe("an adopted field", () => {
  it("does not depart when its type is right, or when it is optional and absent", () => {
    expect(departuresOf(`{"androidBuild":{"sdkInt":36}}`, SDK_INT)).toEqual([]);
    expect(departuresOf(`{"androidBuild":{}}`, SDK_INT)).toEqual([]);
    expect(departuresOf(`{}`, SDK_INT)).toEqual([]);
  });

  it("departs when its type is wrong, or when it is required and absent", () => {
    expect(departuresOf(`{"model":1}`, MODEL)).toEqual(["device_identity > model wrong-type"]);
    expect(departuresOf(`{"model":null}`, MODEL)).toEqual(["device_identity > model wrong-type"]);
    expect(departuresOf(`{}`, MODEL)).toEqual(["device_identity > model missing-field"]);
    expect(departuresOf(`{"__proto__":{"model":"m"}}`, MODEL)).toEqual(["device_identity > model missing-field"]);
  });

  it("inside an object departs when its own type is wrong", () => {
    expect(departuresOf(`{"androidBuild":{"sdkInt":"36"}}`, SDK_INT)).toEqual([
      "device_identity > androidBuild > sdkInt wrong-type",
    ]);
  });

  it.each([`"x"`, "36", "null", "[]", "true"])("inside an object departs where the object is %s", (value) => {
    expect(departuresOf(`{"androidBuild":${value}}`, SDK_INT)).toEqual(["device_identity > androidBuild wrong-type"]);
  });

  it("is not the field whose name is the joined path", () => {
    expect(departuresOf(`{"androidBuild.sdkInt":"x"}`, SDK_INT)).toEqual([]);
  });

  it("that is an object adopts all its members, even if the paths also list some of them", () => {
    const data = `{"androidBuild":{"sdkInt":"36","board":1}}`;
    const both = [
      "device_identity > androidBuild > board wrong-type",
      "device_identity > androidBuild > sdkInt wrong-type",
    ];
    for (const paths of [[BUILD], [BUILD, SDK_INT], [SDK_INT, BUILD]]) {
      expect(departuresOf(data, ...paths).toSorted()).toEqual(both);
    }
    expect(departuresOf(data, SDK_INT)).toHaveLength(1);
  });

  it("does not make an unknown member a departure, because unknown members are kept", () => {
    expect(departuresOf(`{"androidBuild":{"serial":"x"}}`, BUILD)).toEqual([]);
  });

  it("of a probe that did not succeed is not checked", () => {
    const adoption = adoptFields([MODEL]);
    if (!adoption.ok) throw new Error("an unknown path");
    for (const outcome of [undefined, { status: "timeout" }, { status: "skipped", reason: "disabled" }]) {
      expect(checkAdopted(outcome ? { device_identity: outcome } : {}, adoption.adopted)).toEqual([]);
    }
  });

  it("is never reported when no field is adopted", () => {
    expect(checkAdopted({ device_identity: { status: "success", data: {} } }, NOTHING_ADOPTED)).toEqual([]);
  });
});

it("every path that names no field of the catalog is reported", () => {
  const unknown = [
    [],
    ["device_identity"],
    ["clipboard", "text"],
    ["device_identity", "androidBuild.sdkInt"],
    ["device_identity", "androidBuild", "serial"],
    ["device_identity", "model", "length"],
    ["device_identity", "constructor"],
    ["constructor", "name"],
  ];
  expect(adoptFields([MODEL, ...unknown, SDK_INT])).toEqual({ ok: false, unknown });
});
