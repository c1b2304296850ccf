import { PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { describe, expect, it, vi } from "vitest";
import type { Configuration, ProbeReport } from "./configuration.ts";
import { consentFor } from "./consent.ts";
import { DeviceIntelOnHost } from "./device-intel-on-host.ts";
import { fakeHost, NEVER } from "./host.fixture.ts";
import { MisuseError } from "./misuse.ts";

const ALL = consentFor(...PROBE_IDS);
const HARDWARE = consentFor("hardware");

const intelOn = (host = fakeHost(), configuration: Configuration = { consent: ALL }) =>
  new DeviceIntelOnHost(configuration, () => host);

const session = { sessionId: "session-1" };

const settledWith = <T>(value: T, ms = 10): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms, value));

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

  it("carries the client id from when it is set until it is cleared", async () => {
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

  it("has no failed probe for native values that throw, are forged or have holes", async () => {
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

  it("has the time of the device's clock, while deadlines use the monotonic clock", async () => {
    const host = fakeHost(undefined, { now: () => new Date(0) });
    expect((await intelOn(host).collect(session)).collected_at).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("a probe is skipped", () => {
  it("when it is disabled, of another platform or without consent, with the first of these reasons", async () => {
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

  it.each(["unsupported", "permission"])("when native code reports %s", async (unavailable) => {
    const { probes } = await intelOn(fakeHost(() => ({ unavailable }))).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: unavailable });
  });

  it("in a web bundle, where no probe exists", async () => {
    const { probes } = await intelOn(fakeHost(undefined, { platform: "web", native: undefined })).collect(session);
    expect(new Set(Object.values(probes).map((outcome) => JSON.stringify(outcome)))).toEqual(
      new Set(['{"status":"skipped","reason":"platform"}', '{"status":"skipped","reason":"disabled"}']),
    );
  });
});

describe("consent", () => {
  it("to no probe is the default", async () => {
    const host = fakeHost();
    const { probes } = await intelOn(host, {}).collect(session);
    expect(Object.values(probes).every(({ status }) => status === "skipped")).toBe(true);
    expect(host.collected).toEqual([]);
  });

  it("to some probes lets only those run, and enables none that is off", async () => {
    const host = fakeHost();
    await intelOn(host, { consent: consentFor("hardware", "telephony") }).collect(session);
    expect(host.collected.map(({ probe }) => probe)).toEqual(["hardware"]);
  });

  it("as a function is called for each enabled probe of the platform, before native work", async () => {
    const asked: ProbeId[] = [];
    const host = fakeHost(() => {
      expect(asked).toContain("hardware");
      return { fields: {} };
    });
    const consent = (probe: ProbeId) => {
      asked.push(probe);
      return Promise.resolve(probe === "hardware");
    };
    await intelOn(host, { consent }).collect(session);
    expect(host.collected.map(({ probe }) => probe)).toEqual(["hardware"]);
    expect(asked.filter((probe) => probe === "network")).toHaveLength(1);
    expect(asked).not.toContain("telephony");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
    ["answers late", () => NEVER],
    ["answers with something else", () => "true" as unknown as boolean],
    ["promises something else", () => Promise.resolve(1 as unknown as boolean)],
  ])("is not given by a function that %s", async (_, consent) => {
    const host = fakeHost();
    const { probes } = await intelOn(host, {
      consent,
      probes: Object.fromEntries(PROBE_IDS.map((probe) => [probe, { timeoutMs: 20 }])),
    }).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(host.collected).toEqual([]);
  });

  it("that is withdrawn meanwhile stops native work, and its values do not enter the event", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : { fields: { language: "en" } }));
    const intel = intelOn(host, { consent: consentFor("hardware", "locale"), deadlineMs: 400 });
    const collecting = intel.collect(session);
    await vi.waitFor(() => expect(host.collected).toHaveLength(2));
    intel.setConsent(HARDWARE);
    intel.setConsent(consentFor());
    const { probes } = await collecting;
    expect(host.cancelled).toContain(host.collected.find(({ probe }) => probe === "hardware")?.call);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(probes.locale).toEqual({ status: "skipped", reason: "consent" });
  });

  it("that is withdrawn before native work starts prevents it", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL });
    const collecting = intel.collect(session);
    intel.setConsent(consentFor());
    const { probes } = await collecting;
    expect(host.collected).toEqual([]);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
  });

  it("that is withdrawn while a function is pending is not restored by its answer", async () => {
    for (const readFirst of [false, true]) {
      const host = fakeHost(() => ({ fields: { language: "de" } }));
      const answers: ((agreed: boolean) => void)[] = [];
      let asked = 0;
      const consent = (probe: ProbeId): boolean | Promise<boolean> => {
        if (probe !== "locale" || (readFirst && asked++ === 0)) return probe === "locale";
        return new Promise((resolve) => void answers.push(resolve));
      };
      const intel = intelOn(host, { consent });
      const collecting = intel.collect(session);
      await vi.waitFor(() => expect(answers).toHaveLength(1));
      intel.setConsent(consentFor());
      answers[0]?.(true);
      expect((await collecting).probes.locale).toEqual({ status: "skipped", reason: "consent" });
      expect(host.collected).toHaveLength(readFirst ? 1 : 0);
    }
  });

  it("that replaces itself at each call ends all the same, as no consent", async () => {
    const host = fakeHost();
    const intel: DeviceIntelOnHost = intelOn(host, { consent: () => replaced() });
    const replaced = (): boolean => {
      intel.setConsent(() => replaced());
      return true;
    };
    const { probes } = await intel.collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(host.collected).toEqual([]);
  });

  it("that is withdrawn in any turn before the event is made keeps the probe out of it", async () => {
    for (let turns = 0; turns < 25; turns++) {
      let looks = 0;
      let first: "withdrawn" | "made" | undefined;
      const withdraw = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        first ??= "withdrawn";
        intel.setConsent(consentFor());
      };
      const consent = (probe: ProbeId): boolean | Promise<boolean> => {
        if (probe === "locale" && ++looks === 2) void withdraw();
        return Promise.resolve(probe === "locale");
      };
      const onProbe = (): void => void (first ??= "made");
      const intel: DeviceIntelOnHost = intelOn(
        fakeHost(() => ({ fields: { language: "de" } })),
        { consent, onProbe },
      );
      const { locale } = (await intel.collect(session)).probes;
      expect(locale.status, `${turns} turns, ${first}`).toBe(first === "withdrawn" ? "skipped" : "success");
    }
  });

  it("that is replaced by one that also holds the probe keeps the probe's values", async () => {
    const host = fakeHost(() => ({ fields: { language: "de" } }));
    const intel = intelOn(host, { consent: ALL });
    const collecting = intel.collect(session);
    intel.setConsent(consentFor("locale"));
    expect((await collecting).probes.locale).toEqual({ status: "success", data: { language: "de" } });
  });

  it("that is withdrawn and given again does not restart the stopped probe", async () => {
    const host = fakeHost((probe) => (probe === "locale" ? settledWith({ fields: { language: "de" } }, 200) : {}));
    const intel = intelOn(host, { consent: ALL });
    const collecting = intel.collect(session);
    await vi.waitFor(() => expect(host.collected.length).toBeGreaterThan(0));
    intel.setConsent(consentFor());
    intel.setConsent(ALL);
    expect((await collecting).probes.locale).toEqual({ status: "skipped", reason: "consent" });
  });

  it("that is replaced by a function that says no stops native work", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : {}));
    const intel = intelOn(host, { consent: HARDWARE, deadlineMs: 300 });
    const collecting = intel.collect(session);
    await vi.waitFor(() => expect(host.collected).toHaveLength(1));
    intel.setConsent(() => false);
    expect((await collecting).probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(host.cancelled).toHaveLength(1);
  });

  it("can't be given by a polluted prototype", async () => {
    const host = fakeHost();
    await intelOn(host, Object.create({ consent: () => true }) as Configuration).collect(session);
    expect(host.collected).toEqual([]);
  });

  it("that a function no longer gives is noticed at the second check", async () => {
    let agreed = true;
    const host = fakeHost(() => {
      agreed = false;
      return { fields: { processorCount: 8 } };
    });
    const { probes } = await intelOn(host, { consent: () => agreed }).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
  });

  it("can be given only to known probes", () => {
    expect(() => consentFor("hardwear" as ProbeId)).toThrow(/no such probe: hardwear/);
    expect(() => consentFor(["hardware", "locale"] as never)).toThrow(/each id is an argument of its own/);
    const intel = intelOn();
    expect(() => intel.setConsent(["hardware"] as never)).toThrow(MisuseError);
  });
});

describe("time limits", () => {
  it("a probe that does not answer times out, is cancelled, and affects no other probe", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : { fields: { language: "en" } }));
    const { probes } = await intelOn(host, {
      consent: consentFor("hardware", "locale"),
      probes: { hardware: { timeoutMs: 20 } },
    }).collect(session);
    expect(probes.hardware).toEqual({ status: "timeout" });
    expect(probes.locale).toEqual({ status: "success", data: { language: "en" } });
    expect(host.cancelled).toHaveLength(1);
  });

  it("the deadline of the collection holds for every probe, also for probes that have not started", async () => {
    // A timer may end a millisecond early: then a probe would begin for the last one.
    const late = (work: () => void, ms: number): unknown => setTimeout(work, ms + 3);
    const host = Object.assign(
      fakeHost(() => NEVER),
      { setTimer: late },
    );
    const { probes } = await intelOn(host, {
      consent: ALL,
      deadlineMs: 30,
      probes: { gpu_benchmark: { enabled: true }, numeric_consistency: { enabled: true } },
    }).collect(session);
    expect(probes.hardware).toEqual({ status: "timeout" });
    expect(probes.numeric_consistency).toEqual({ status: "timeout" });
    expect(host.collected.map(({ probe }) => probe)).not.toContain("gpu_benchmark");
  });

  it("probes that measure never run at the same time as those of another collection", async () => {
    let together = 0;
    let most = 0;
    const host = fakeHost(async () => {
      most = Math.max(most, ++together);
      await settledWith(undefined);
      together--;
      return { fields: {} };
    });
    const consent = consentFor("gpu_benchmark");
    const intel = intelOn(host, { consent, probes: { gpu_benchmark: { enabled: true } } });
    await Promise.all([intel.collect(session), intel.collect(session), intel.collect(session)]);
    expect(host.collected).toHaveLength(3);
    expect(most).toBe(1);
  });

  it("probes that measure run after all other probes, one after the other", async () => {
    const running = new Set<string>();
    const together: string[][] = [];
    const host = fakeHost(async (probe) => {
      running.add(probe);
      together.push([...running]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running.delete(probe);
      return { fields: { benchmarkPerformed: true, measured: true } };
    });
    const measuring = ["gpu_benchmark", "audio_latency", "runtime_timing", "numeric_consistency"] as const;
    const enabled = Object.fromEntries(measuring.map((probe) => [probe, { enabled: true }]));
    await intelOn(host, { consent: ALL, probes: enabled }).collect(session);
    expect(together.slice(-4)).toEqual(measuring.map((probe) => [probe]));
  });
});

describe("an aborted collection", () => {
  it("rejects at once and stops native work", async () => {
    const host = fakeHost(() => NEVER);
    const controller = new AbortController();
    const collecting = intelOn(host).collect({ ...session, signal: controller.signal });
    await vi.waitFor(() => expect(host.collected.length).toBeGreaterThan(0));
    controller.abort();
    await expect(collecting).rejects.toMatchObject({ name: "AbortError" });
    expect(new Set(host.cancelled)).toEqual(new Set(host.collected.map(({ call }) => call)));
  });

  it("reads nothing when it is aborted before it begins", async () => {
    const host = fakeHost();
    const controller = new AbortController();
    controller.abort();
    await expect(intelOn(host).collect({ ...session, signal: controller.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(host.collected).toEqual([]);
  });

  it("reads nothing when it is aborted in the turn in which it began", async () => {
    const host = fakeHost();
    const controller = new AbortController();
    const collecting = intelOn(host).collect({ ...session, signal: controller.signal });
    controller.abort();
    await expect(collecting).rejects.toMatchObject({ name: "AbortError" });
    await settledWith(undefined);
    expect(host.collected).toEqual([]);
  });

  it("leaves no timer, and calls neither the consent function nor onProbe again", async () => {
    const timers = new Set<unknown>();
    const asked: string[] = [];
    const reports: ProbeReport[] = [];
    const host = fakeHost(() => NEVER, {
      setTimer: (work, milliseconds) => {
        const timer = setTimeout(work, milliseconds);
        timers.add(timer);
        return timer;
      },
      clearTimer: (timer) => {
        timers.delete(timer);
        clearTimeout(timer as NodeJS.Timeout);
      },
    });
    const consent = (probe: ProbeId): Promise<boolean> => {
      asked.push(probe);
      return Promise.resolve(true);
    };
    const controller = new AbortController();
    const intel = intelOn(host, { consent, onProbe: (report) => void reports.push(report) });
    const collecting = intel.collect({ ...session, signal: controller.signal });
    await vi.waitFor(() => expect(host.collected.length).toBeGreaterThan(0));
    const before = asked.length;
    controller.abort();
    await expect(collecting).rejects.toMatchObject({ name: "AbortError" });
    await settledWith(undefined);
    expect(timers.size).toBe(0);
    expect(asked).toHaveLength(before);
    expect(reports).toEqual([]);
  });

  it("does not affect another collection", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : { fields: {} }));
    const intel = intelOn(host, { consent: HARDWARE, probes: { hardware: { timeoutMs: 50 } } });
    const controller = new AbortController();
    const one = intel.collect({ sessionId: "one", signal: controller.signal });
    const other = intel.collect({ sessionId: "other" });
    controller.abort();
    await expect(one).rejects.toMatchObject({ name: "AbortError" });
    expect(await other).toMatchObject({ session_id: "other", probes: { hardware: { status: "timeout" } } });
  });
});

describe("an option of one collection", () => {
  it("consent restricts the active consent, and adds no probe to it", async () => {
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

  it("consent that a function no longer gives is noticed at the second check", async () => {
    let agreed = true;
    const host = fakeHost(() => {
      agreed = false;
      return { fields: { processorCount: 8 } };
    });
    const { probes } = await intelOn(host).collect({ ...session, consent: () => agreed });
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
  });

  it("probes replace members of the configuration, for this collection only", async () => {
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

  it("clientId is in the event of this collection only", async () => {
    const intel = intelOn();
    intel.setClientId("account-7");
    expect((await intel.collect({ ...session, clientId: "account-8" })).client_id).toBe("account-8");
    expect((await intel.collect(session)).client_id).toBe("account-7");
  });
});

describe("setConfig", () => {
  it("replaces the configuration for later collections, and keeps the consent where it names none", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? settledWith({ fields: { processorCount: 8 } }) : {}));
    const intel = intelOn(host, { consent: HARDWARE, probes: { locale: { enabled: false } } });
    const before = intel.collect(session);
    intel.setConfig({ probes: { hardware: { enabled: false } } });
    expect((await before).probes.hardware).toEqual({ status: "success", data: { processorCount: 8 } });
    const { probes } = await intel.collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "disabled" });
    expect(probes.locale).toEqual({ status: "skipped", reason: "consent" });
  });

  it("with a consent withdraws at once, as setConsent does", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : {}));
    const intel = intelOn(host, { consent: HARDWARE });
    const collecting = intel.collect(session);
    await vi.waitFor(() => expect(host.collected).toHaveLength(1));
    intel.setConfig({ consent: consentFor() });
    expect((await collecting).probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(host.cancelled).toHaveLength(1);
  });

  it("rejects what the constructor's rules reject, and the previous configuration stays active", async () => {
    const intel = intelOn(fakeHost(), { consent: ALL, probes: { hardware: { enabled: false } } });
    const wrong = { deadlineMs: 0, consent: consentFor(), probes: { hardwear: {} } };
    expect(() => intel.setConfig(wrong as never)).toThrow(/probes.hardwear is not known; deadlineMs must be/);
    const { probes } = await intel.collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "disabled" });
    expect(probes.locale.status).toBe("success");
  });

  it("can correct a wrong configuration of the constructor", async () => {
    const intel = intelOn(fakeHost(), { deadlineMs: 0 });
    await expect(intel.collect(session)).rejects.toThrow(MisuseError);
    intel.setConfig({ consent: ALL });
    expect((await intel.collect(session)).probes.locale.status).toBe("success");
  });

  it("that turns transaction_safety off ends the observation", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, probes: { transaction_safety: { enabled: true } } });
    intel.observeTransaction();
    await vi.waitFor(() => expect(host.observation).toEqual(["started"]));
    intel.setConfig({});
    expect(host.observation).toEqual(["started", "stopped"]);
  });
});

describe("misuse", () => {
  it("of collect with an unknown option is rejected, and no probe runs", async () => {
    const host = fakeHost();
    const options = { ...session, concent: () => false, deadlineMs: 5 };
    const fault: unknown = await intelOn(host)
      .collect(options)
      .catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(MisuseError);
    expect((fault as MisuseError).problems).toEqual([
      { path: "concent", message: "is not known" },
      { path: "deadlineMs", message: "is not known" },
    ]);
    expect(host.collected).toEqual([]);
  });

  it("of every option of collect is rejected, and so are options that are no object", async () => {
    const options = { ...session, consent: true, probes: { hardwear: {}, hardware: { enabled: 1 } }, clientId: "" };
    const fault: unknown = await intelOn()
      .collect(options as never)
      .catch((error: unknown) => error);
    expect((fault as MisuseError).problems.map(({ path }) => path)).toEqual([
      "consent",
      "probes.hardwear",
      "probes.hardware.enabled",
      "clientId",
    ]);
    await expect(intelOn().collect("session-1" as never)).rejects.toThrow(/the argument must be an object/);
  });

  it("is reported with every problem and its path, and never with a value", async () => {
    const configuration = {
      consent: true,
      deadlineMs: 0,
      onProbe: "log",
      colour: 1,
      probes: {
        hardwear: {},
        hardware: { enabled: "false", timeoutMs: Number.NaN, fields: { include: ["wifi"], exclude: "all" } },
        os_integrity: { fields: { exclude: ["isEmulator"] }, retries: 3 },
      },
    };
    const fault = await intelOn(fakeHost(), configuration as never)
      .collect({ sessionId: "", signal: 1 } as never)
      .catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(MisuseError);
    expect((fault as MisuseError).problems.map(({ path }) => path)).toEqual([
      "colour",
      "consent",
      "onProbe",
      "probes.hardwear",
      "probes.hardware.enabled",
      "probes.hardware.timeoutMs",
      "probes.hardware.fields.include.0",
      "probes.hardware.fields.exclude",
      "probes.os_integrity.retries",
      "probes.os_integrity.fields.exclude",
      "deadlineMs",
      "sessionId",
      "signal",
    ]);
    expect((fault as Error).message).not.toContain("wifi");
  });

  it.each([
    ["none", undefined],
    ["129 characters", "😀".repeat(129)],
    ["U+0000", "a\0"],
    ["half a pair", "a\ud800"],
  ])("includes a session id that the endpoint would reject: %s", async (_, sessionId) => {
    await expect(intelOn().collect({ sessionId } as never)).rejects.toThrow(/sessionId/);
  });

  it("does not include a session id of 128 characters of any plane", async () => {
    const sessionId = "😀".repeat(128);
    expect((await intelOn().collect({ sessionId })).session_id).toBe(sessionId);
  });

  it("includes a configuration that is null, a list or has inherited names", async () => {
    await expect(intelOn(fakeHost(), [] as never).collect(session)).rejects.toThrow(/must be an object/);
    await expect(intelOn(fakeHost(), JSON.parse('{"probes":{"__proto__":{}}}')).collect(session)).rejects.toThrow(
      /probes.__proto__ is not known/,
    );
    expect((await intelOn(fakeHost(), null as never).collect(session)).session_id).toBe("session-1");
  });
});

describe("the host's telemetry", () => {
  it("may reject, and native code may fail to stop, without an effect on the event", async () => {
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

  it("receives id, status and duration of every probe, and may throw", async () => {
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

describe("the window of transaction_safety", () => {
  const enabled = { probes: { transaction_safety: { enabled: true } } };
  const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

  it("runs from start to stop, as one native observation for several windows", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    const one = intel.observeTransaction();
    const other = intel.observeTransaction();
    await nextTask();
    one.stop();
    one.stop();
    expect(host.observation).toEqual(["started"]);
    other.stop();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("is shared by all instances on a phone", async () => {
    const host = fakeHost();
    const windows = [intelOn(host, { consent: ALL, ...enabled }), intelOn(host, { consent: ALL, ...enabled })].map(
      (intel) => intel.observeTransaction(),
    );
    await nextTask();
    windows[0]?.stop();
    expect(host.observation).toEqual(["started"]);
    windows[1]?.stop();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("ends with the last window that runs, even if others still wait for consent", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    const running = intel.observeTransaction();
    await nextTask();
    intel.observeTransaction();
    intel.setConsent(consentFor());
    await nextTask();
    expect(host.observation).toEqual(["started", "stopped"]);
    running.stop();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("ends when consent is replaced by a function that says no", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    intel.observeTransaction();
    await nextTask();
    intel.setConsent(() => false);
    await nextTask();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("ends when consent is withdrawn", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    intel.observeTransaction();
    await nextTask();
    intel.setConsent(HARDWARE);
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it.each([
    ["without consent", { consent: HARDWARE, ...enabled }],
    ["while the probe is off", { consent: ALL }],
    ["when the function says no", { consent: () => Promise.resolve(false), ...enabled }],
  ])("does not begin %s", async (_, configuration) => {
    const host = fakeHost();
    intelOn(host, configuration).observeTransaction();
    await nextTask();
    expect(host.observation).toEqual([]);
  });

  it("never begins when it is stopped before consent is given", async () => {
    const host = fakeHost();
    intelOn(host, { consent: () => Promise.resolve(true), ...enabled })
      .observeTransaction()
      .stop();
    await nextTask();
    expect(host.observation).toEqual([]);
  });
});
