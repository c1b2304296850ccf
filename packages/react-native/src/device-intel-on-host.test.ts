import { PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { describe, expect, it, vi } from "vitest";
import type { ProbeReport } from "./configuration.ts";
import { consentFor } from "./consent.ts";
import { fakeHost, NEVER } from "./host.fixture.ts";
import { ALL, HARDWARE, intelOn, session, settledWith } from "./intel.fixture.ts";
import { MisuseError } from "./misuse.ts";

describe("an event", () => {
  it("has the envelope of the contract and an outcome for every probe", async () => {
    const event = await intelOn().collect(session);
    expect(Object.keys(event)).toEqual(["session_id", "event_type", "schema_version", "collected_at", "probes"]);
    expect(event).toMatchObject({
      session_id: "session-1",
      event_type: "device_intel_collection",
      schema_version: 1,
      collected_at: "2026-03-04T05:06:07.890Z",
    });
    expect(Object.keys(event.probes)).toEqual(PROBE_IDS);
  });

  it("carries the client id after it is set and until it is cleared", async () => {
    const intel = intelOn();
    intel.setClientId("account-7");
    expect((await intel.collect(session)).client_id).toBe("account-7");
    intel.setClientId(undefined);
    expect(await intel.collect(session)).not.toHaveProperty("client_id");
  });

  it.each([
    [Number.NaN, "1970-01-01T00:00:00.000Z"],
    [Date.UTC(12_000, 0, 1), "9999-12-31T23:59:59.999Z"],
    [-8e15, "0000-01-01T00:00:00.000Z"],
  ])("has the nearest time that RFC 3339 can express when the clock is at %d", async (time, expected) => {
    const host = fakeHost(undefined, { now: () => new Date(time) });
    expect((await intelOn(host).collect(session)).collected_at).toBe(expected);
  });

  it("has no native value that throws when it is read, has a wrong type or has holes", async () => {
    const trap = Object.defineProperty({}, "board", {
      enumerable: true,
      get: () => {
        throw new Error("/secret");
      },
    });
    const forged = Object.assign([1n], { every: () => true });
    const host = fakeHost((probe) => {
      const named = { manufacturer: "m", model: "m", brand: "b", systemName: "n", systemVersion: "1", isTablet: false };
      if (probe === "device_identity") return { fields: { ...named, androidBuild: trap } };
      return { fields: { language: "de", interfaceNames: Array(3), preferredLanguages: forged } };
    });
    const { probes } = await intelOn(host).collect(session);
    expect(probes.device_identity).toEqual({ status: "error", error: "native-failed" });
    expect(probes.network).toMatchObject({ status: "success" });
    expect(JSON.stringify(probes.network)).not.toContain("interfaceNames");
    expect(probes.locale).toEqual({ status: "success", data: { language: "de" } });
  });

  it("has `collected_at` from the device's clock, although deadlines use the monotonic clock", async () => {
    const host = fakeHost(undefined, { now: () => new Date(0) });
    expect((await intelOn(host).collect(session)).collected_at).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("a probe is skipped", () => {
  it("if it is disabled, of another platform or without consent, and the reason is the first of these that applies", async () => {
    const host = fakeHost();
    const { probes } = await intelOn(host, {
      consent: consentFor(),
      probes: { os_integrity_fork_test: { enabled: true }, hardware: { enabled: false } },
    }).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "disabled" });
    expect(probes.os_integrity_fork_test).toEqual({ status: "skipped", reason: "platform" });
    expect(probes.network).toEqual({ status: "skipped", reason: "consent" });
    expect(probes.telephony).toEqual({ status: "skipped", reason: "disabled" });
    expect(host.collected).toEqual([]);
  });

  it.each(["unsupported", "permission"])("if native code reports %s", async (unavailable) => {
    const { probes } = await intelOn(fakeHost(() => ({ unavailable }))).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: unavailable });
  });

  it("in a web bundle, because no probe exists there", async () => {
    const { probes } = await intelOn(fakeHost(undefined, { platform: "web", native: undefined })).collect(session);
    expect(new Set(Object.values(probes).map((outcome) => JSON.stringify(outcome)))).toEqual(
      new Set(['{"status":"skipped","reason":"platform"}', '{"status":"skipped","reason":"disabled"}']),
    );
  });
});

describe("an option of one collection", () => {
  it("can be a second consent, which restricts the active consent and adds no probe to it", async () => {
    for (const consent of [consentFor("locale", "network"), (probe: ProbeId) => probe !== "hardware"]) {
      const host = fakeHost();
      const intel = intelOn(host, { consent: consentFor("hardware", "locale") });
      const { probes } = await intel.collect({ ...session, consent });
      expect(host.collected.map(({ probe }) => probe)).toEqual(["locale"]);
      for (const probe of [probes.hardware, probes.network]) {
        expect(probe).toEqual({ status: "skipped", reason: "consent" });
      }
      expect((await intel.collect(session)).probes.hardware.status).toBe("success");
    }
  });

  it("can be a consent function, whose changed answer is detected at the second check", async () => {
    let agreed = true;
    const host = fakeHost(() => {
      agreed = false;
      return { fields: { processorCount: 8 } };
    });
    const { probes } = await intelOn(host).collect({ ...session, consent: () => agreed });
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
  });

  it("replaces members of the configuration, for this collection only", async () => {
    const host = fakeHost(() => ({ fields: { processorCount: 8, screenDpi: 420, phoneType: "gsm" } }));
    const intel = intelOn(host, { consent: ALL, probes: { hardware: { fields: { include: ["processorCount"] } } } });
    const own = { telephony: { enabled: true }, network: { enabled: false }, hardware: { timeoutMs: 500 } };
    const { probes } = await intel.collect({ ...session, probes: own });
    expect(probes.telephony).toEqual({ status: "success", data: { phoneType: "gsm" } });
    expect(probes.network).toEqual({ status: "skipped", reason: "disabled" });
    expect(probes.hardware).toEqual({ status: "success", data: { processorCount: 8 } });
    const fields = { exclude: ["processorCount"] };
    const other = (await intel.collect({ ...session, probes: { hardware: { fields } } })).probes;
    expect(other.hardware).toEqual({ status: "success", data: { screenDpi: 420 } });
    expect(other.telephony).toEqual({ status: "skipped", reason: "disabled" });
  });

  it("sets the client id in the event of this collection only", async () => {
    const intel = intelOn();
    intel.setClientId("account-7");
    expect((await intel.collect({ ...session, clientId: "account-8" })).client_id).toBe("account-8");
    expect((await intel.collect(session)).client_id).toBe("account-7");
  });
});

describe("setConfig", () => {
  it("replaces the configuration for later collections, and keeps the consent if the new configuration has none", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? settledWith({ fields: { processorCount: 8 } }) : {}));
    const intel = intelOn(host, { consent: HARDWARE, probes: { locale: { enabled: false } } });
    const before = intel.collect(session);
    intel.setConfig({ probes: { hardware: { enabled: false } } });
    expect((await before).probes.hardware).toEqual({ status: "success", data: { processorCount: 8 } });
    const { probes } = await intel.collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "disabled" });
    expect(probes.locale).toEqual({ status: "skipped", reason: "consent" });
  });

  it("withdraws consent at once, as setConsent does, if the new configuration has a consent", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : {}));
    const intel = intelOn(host, { consent: HARDWARE });
    const collecting = intel.collect(session);
    await vi.waitFor(() => expect(host.collected).toHaveLength(1));
    intel.setConfig({ consent: consentFor() });
    expect((await collecting).probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(host.cancelled).toHaveLength(1);
  });

  it("rejects what the constructor rejects, and the previous configuration stays active", async () => {
    const intel = intelOn(fakeHost(), { consent: ALL, probes: { hardware: { enabled: false } } });
    const wrong = { deadlineMs: 0, consent: consentFor(), probes: { hardwear: {} } };
    expect(() => intel.setConfig(wrong as never)).toThrow(/probes.hardwear is not known; deadlineMs must be/);
    const { probes } = await intel.collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "disabled" });
    expect(probes.locale.status).toBe("success");
  });

  it("can correct a wrong configuration that the constructor received", async () => {
    const intel = intelOn(fakeHost(), { deadlineMs: 0 });
    await expect(intel.collect(session)).rejects.toThrow(MisuseError);
    intel.setConfig({ consent: ALL });
    expect((await intel.collect(session)).probes.locale.status).toBe("success");
  });

  it("ends the observation if it disables transaction_safety", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, probes: { transaction_safety: { enabled: true } } });
    intel.observeTransaction();
    await vi.waitFor(() => expect(host.observation).toEqual(["started"]));
    intel.setConfig({});
    expect(host.observation).toEqual(["started", "stopped"]);
  });
});

describe("the host app's telemetry callback", () => {
  it("may reject, and native code may fail to cancel its work, without an effect on the event", async () => {
    const unhandled: unknown[] = [];
    const note = (fault: unknown): void => void unhandled.push(fault);
    process.on("unhandledRejection", note);
    const host = fakeHost(() => NEVER);
    Object.assign(host.native ?? {}, { cancel: () => Promise.reject(new Error("no")) });
    const onProbe = (): Promise<never> => Promise.reject(new Error("telemetry is down"));
    await intelOn(host, { consent: HARDWARE, onProbe: onProbe as unknown as () => void, deadlineMs: 20 }).collect(
      session,
    );
    await settledWith(undefined);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it("gets the id, status and duration of every probe, and may throw", async () => {
    const reports: ProbeReport[] = [];
    const onProbe = (report: ProbeReport) => {
      reports.push(report);
      throw new Error("telemetry is down");
    };
    await intelOn(fakeHost(), { consent: HARDWARE, onProbe }).collect(session);
    expect(reports.map(({ probe }) => probe)).toEqual(PROBE_IDS);
    expect(reports[1]).toEqual({ probe: "hardware", status: "success", durationMs: expect.any(Number) as number });
  });
});
