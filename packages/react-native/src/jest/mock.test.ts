import { validateTransportRequest } from "@device-risk-signals/contract";
import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { factsOf, PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { consentFor, DeviceIntel, readField, sampleEvent, SCENARIOS, setScenario } from "./mock.ts";

const session = { sessionId: "session-1" };

describe.each(SCENARIOS)("the scenario %s", (scenario) => {
  it("gives an event that the endpoint takes, without a departure from the catalog", async () => {
    const event = await sampleEvent({ scenario });
    const observations: unknown = JSON.parse(JSON.stringify(event));
    const request = { action_id: "a", action_type: "t", sdk_version: "0.1.0", platform: "android", observations };
    expect(validateTransportRequest(request)).toMatchObject({ ok: true });
    expect(checkAgainstCatalog(event.probes)).toEqual([]);
  });
});

describe.each(["android", "ios"] as const)("full-%s", (platform) => {
  it("fills every field of its platform", async () => {
    const { probes } = await sampleEvent({ scenario: `full-${platform}` });
    for (const probe of PROBE_IDS) {
      const { platforms, fields } = factsOf(probe);
      if (!platforms.includes(platform)) {
        expect(probes[probe]).toEqual({ status: "skipped", reason: "platform" });
        continue;
      }
      const wanted = [...fields].filter(([, facts]) => facts.platforms.includes(platform)).map(([name]) => name);
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

describe("what goes wrong", () => {
  const statuses = async (scenario: "timeouts" | "errors" | "consent-denied", platform?: "ios") =>
    Object.values((await sampleEvent({ scenario, platform })).probes).map((outcome) =>
      JSON.stringify({ ...outcome, data: undefined }),
    );

  it("timeouts, errors and denied consent are three different states", async () => {
    expect(await statuses("timeouts")).toContain('{"status":"timeout"}');
    expect(await statuses("errors", "ios")).toContain('{"status":"error","error":"native-failed"}');
    expect(await statuses("consent-denied")).toContain('{"status":"skipped","reason":"consent"}');
    expect(await statuses("consent-denied")).not.toContain('{"status":"success"}');
  });

  it("an unknown scenario, or one of the other platform, is told", async () => {
    await expect(sampleEvent({ scenario: "nokia" as never })).rejects.toThrow(/no such scenario/);
    await expect(sampleEvent({ scenario: "clean-ios", platform: "android" })).rejects.toThrow(/is of ios/);
  });
});

it("a seed varies the values, the same way each time", async () => {
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

  it("works as on a device, under fake timers too", async () => {
    setScenario("rooted-android");
    const intel = new DeviceIntel({ consent: consentFor("os_integrity") });
    const event = await intel.collect(session);
    expect(readField(event, "os_integrity", "isEmulator", "android")).toEqual({ state: "observed", value: false });
    expect(readField(event, "hardware", "processorCount", "android")).toEqual({ state: "skipped", reason: "consent" });
  });

  it("takes a new configuration, and a consent for one collection", async () => {
    const intel = new DeviceIntel({ consent: consentFor("locale", "hardware") });
    const { probes } = await intel.collect({ ...session, consent: consentFor("locale") });
    expect([probes.locale.status, probes.hardware.status]).toEqual(["success", "skipped"]);
    intel.setConfig({ consent: consentFor("hardware") });
    const after = (await intel.collect(session)).probes;
    expect([after.locale.status, after.hardware.status]).toEqual(["skipped", "success"]);
  });

  it("changes its phone from one collection to the next, and times out without waiting", async () => {
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
