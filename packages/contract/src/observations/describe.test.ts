import { CATALOG } from "../catalog/catalog.ts";
import { describe, expect, it } from "vitest";
import { describeFields, describeProbes } from "./describe.ts";

const eventOf = (probes: object): Record<string, unknown> => ({ session_id: "s", probes });
const success = (data: object): object => ({ status: "success", data });
const fieldsOf = (probes: object, platform = "android") => [...describeFields(eventOf(probes), platform)].slice(1);

describe("the probes of an event", () => {
  it("have five states that stay distinct", () => {
    const states = describeProbes(
      eventOf({
        hardware: success({}),
        fonts: { status: "skipped", reason: "disabled" },
        network: { status: "timeout" },
        telephony: { status: "error", error: "omitted" },
        novel: success({ a: false }),
      }),
    );
    const of = (name: string) => states.find(({ probe }) => probe === name);
    expect(of("hardware")).toEqual({ probe: "hardware", state: "observed", reason: null });
    expect(of("fonts")).toEqual({ probe: "fonts", state: "skipped", reason: "disabled" });
    expect(of("network")).toEqual({ probe: "network", state: "timeout", reason: null });
    expect(of("telephony")).toEqual({ probe: "telephony", state: "error", reason: "omitted" });
    expect(of("locale")).toEqual({ probe: "locale", state: "omitted", reason: null });
    expect(of("novel")).toMatchObject({ state: "observed" });
    expect(states).toHaveLength(CATALOG.length + 1);
  });

  it("are all omitted in an event without probes", () => {
    expect(new Set(describeProbes({}).map(({ state }) => state))).toEqual(new Set(["omitted"]));
  });
});

describe("the fields of an event", () => {
  it("have the unit, sensitivity and meaning of the catalog", () => {
    const [memory, ids] = fieldsOf({
      hardware: success({ totalMemoryBytes: 0 }),
      device_identity: success({ androidBuild: { sdkInt: 34, supportedAbis: ["a", "b"] } }),
    });
    expect(memory).toMatchObject({ path: "/probes/hardware/data/totalMemoryBytes", value: 0, unit: "bytes" });
    expect(memory).toMatchObject({ sensitivity: "low", not_observed: null });
    expect(memory?.meaning).toContain("Main memory");
    expect(ids).toMatchObject({ path: "/probes/device_identity/data/androidBuild/sdkInt", unit: "API level" });
  });

  it("are rows of objects, and one row of a list or of an empty object", () => {
    const rows = fieldsOf({ novel: success({ o: { a: [1, [2]], e: {} }, n: null }) });
    expect(rows.map(({ path, value }) => [path, value])).toEqual([
      ["/probes/novel/data/o/a", [1, [2]]],
      ["/probes/novel/data/o/e", {}],
      ["/probes/novel/data/n", null],
    ]);
  });

  it("that the catalog lacks have no facts, even if their names are those of Object's prototype", () => {
    const none = { unit: null, sensitivity: null, meaning: null, not_observed: null };
    for (const probe of ["hardware", "constructor", "novel"]) {
      expect(fieldsOf({ [probe]: success({ toString: 1 }) })).toEqual([
        { path: `/probes/${probe}/data/toString`, value: 1, ...none },
      ]);
    }
    expect([...describeFields({ client_id: "c" }, "ios")]).toEqual([{ path: "/client_id", value: "c", ...none }]);
  });

  it("say if the value is no observation", () => {
    const scan = { scanPerformed: false, defaultPortOpen: false };
    const why = (probes: object, platform?: string) =>
      fieldsOf(probes, platform).map(({ not_observed }) => not_observed);
    expect(why({ os_integrity_frida_scan: success(scan) })).toEqual([null, "scanPerformed is false"]);
    expect(why({ os_integrity_frida_scan: success({ ...scan, scanPerformed: true }) })).toEqual([null, null]);
    const developer = { os_integrity: success({ developerModeEnabled: false }) };
    expect(why(developer, "ios")).toEqual(["a constant on ios"]);
    expect(why(developer)).toEqual([null]);
  });
});
