import { validateTransportRequest } from "@device-risk-signals/contract";
import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { factsOf, type Platform, PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import { outsideVocabulary } from "@device-risk-signals/contract/catalog/vocabulary";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CollectedEvent } from "../collection.ts";
import { consentFor, DeviceIntel, readField, sampleEvent, SCENARIOS, setScenario } from "./mock.ts";

const session = { sessionId: "session-1" };

describe.each(SCENARIOS)("the scenario %s", (scenario) => {
  it("gives an event that the endpoint accepts and the catalog describes", async () => {
    const event = await sampleEvent({ scenario });
    const observations: unknown = JSON.parse(JSON.stringify(event));
    const request = { action_id: "a", action_type: "t", sdk_version: "0.1.0", platform: "android", observations };
    expect(validateTransportRequest(request)).toMatchObject({ ok: true });
    expect(checkAgainstCatalog(event.probes)).toEqual([]);
  });

  it.each([undefined, 1, 7])("gives only values that a device can send, with the seed %s", async (seed) => {
    const { probes } = await sampleEvent({ scenario, seed });
    expect(outsideVocabulary(platformOf(probes), probes)).toEqual([]);
  });

  it("has no value for a field whose permission the example app lacks", async () => {
    const { probes } = await sampleEvent({ scenario });
    const granted = dataOf(probes.application)["grantedPermissions"];
    if (platformOf(probes) === "ios" || granted === undefined) return;
    for (const { id, fields } of CATALOG) {
      const names = Object.keys(dataOf(probes[id as "network"]));
      const needed = names.flatMap((name) => fields[name]?.permission?.android ?? []);
      expect(granted, id).toEqual(expect.arrayContaining(needed.map((name) => `android.permission.${name}`)));
    }
  });
});

type Probes = CollectedEvent["probes"];

function dataOf(outcome: Probes["network" | "application" | "runtime"]): Readonly<Record<string, unknown>> {
  return outcome.status === "success" ? { ...outcome.data } : {};
}

function platformOf(probes: Probes): Platform {
  return dataOf(probes.runtime)["platformOs"] === "ios" ? "ios" : "android";
}

describe.each(["android", "ios"] as const)("full-%s", (platform) => {
  it("fills every field that a current system of its platform provides", async () => {
    const { probes } = await sampleEvent({ scenario: `full-${platform}` });
    for (const probe of PROBE_IDS) {
      const { platforms, fields } = factsOf(probe);
      if (!platforms.includes(platform)) {
        expect(probes[probe]).toEqual({ status: "skipped", reason: "platform" });
        continue;
      }
      const wanted = [...fields]
        .filter(([name, facts]) => facts.platforms.includes(platform) && !isWithheld(platform, probe, name))
        .map(([name]) => name);
      const outcome = probes[probe];
      expect(outcome.status, probe).toBe("success");
      const found = Object.keys(outcome.status === "success" ? outcome.data : {});
      expect(
        wanted.filter((name) => !found.includes(name)),
        probe,
      ).toEqual([]);
    }
  });
});

/**
 * Whether the mock omits the field: because a current system withholds it, or because it is `skippedReason` and the GPU
 * benchmark runs.
 */
function isWithheld(platform: Platform, probe: string, name: string): boolean {
  const field = CATALOG.find(({ id }) => id === probe)?.fields[name];
  return field?.systems?.[platform]?.until !== undefined || name === "skippedReason";
}

describe("a failing scenario", () => {
  const statuses = async (scenario: "timeouts" | "errors" | "consent-denied", platform?: "ios") =>
    Object.values((await sampleEvent({ scenario, platform })).probes).map((outcome) =>
      JSON.stringify({ ...outcome, data: undefined }),
    );

  it("has timeouts, errors or denied consent as three different states", async () => {
    expect(await statuses("timeouts")).toContain('{"status":"timeout"}');
    expect(await statuses("errors", "ios")).toContain('{"status":"error","error":"native-failed"}');
    expect(await statuses("consent-denied")).toContain('{"status":"skipped","reason":"consent"}');
    expect(await statuses("consent-denied")).not.toContain('{"status":"success"}');
  });

  it("is rejected if it is unknown or belongs to the other platform", async () => {
    await expect(sampleEvent({ scenario: "nokia" as never })).rejects.toThrow(/no such scenario/);
    await expect(sampleEvent({ scenario: "clean-ios", platform: "android" })).rejects.toThrow(/exists only on ios/);
  });
});

it("a seed varies the values, and the same seed gives the same values", async () => {
  const memory = async (seed: number) => {
    const event = await sampleEvent({ scenario: "clean-android", seed });
    return readField(event, "hardware", "freeMemoryBytes", "android");
  };
  expect(await memory(1)).toEqual(await memory(1));
  expect(await memory(1)).not.toEqual(await memory(2));
});

describe("DeviceIntel in an app's tests", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    setScenario("clean-android");
  });

  it("works as on a device, even under fake timers", async () => {
    setScenario("rooted-android");
    const intel = new DeviceIntel({ consent: consentFor("os_integrity") });
    const event = await intel.collect(session);
    expect(readField(event, "os_integrity", "isEmulator", "android")).toEqual({ state: "observed", value: false });
    expect(readField(event, "hardware", "processorCount", "android")).toEqual({ state: "skipped", reason: "consent" });
  });

  it("accepts a new configuration, and a consent for one collection", async () => {
    const intel = new DeviceIntel({ consent: consentFor("locale", "hardware") });
    const { probes } = await intel.collect({ ...session, consent: consentFor("locale") });
    expect([probes.locale.status, probes.hardware.status]).toEqual(["success", "skipped"]);
    intel.setConfig({ consent: consentFor("hardware") });
    const after = (await intel.collect(session)).probes;
    expect([after.locale.status, after.hardware.status]).toEqual(["skipped", "success"]);
  });

  it("can use another scenario for each collection, and times out without a real wait", async () => {
    const intel = new DeviceIntel({ consent: consentFor("locale") });
    expect((await intel.collect(session)).probes.locale.status).toBe("success");
    setScenario("timeouts");
    expect((await intel.collect(session)).probes.locale.status).toBe("timeout");
    setScenario("consent-denied");
    expect((await intel.collect(session)).probes.locale).toEqual({ status: "skipped", reason: "consent" });
    setScenario("clean-ios");
    expect((await intel.collect(session)).probes.locale.status).toBe("success");
  });
});
