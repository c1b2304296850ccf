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
  ])("of a clock at %d is as near as RFC 3339 comes", async (time, expected) => {
    const host = fakeHost(undefined, { now: () => new Date(time) });
    expect((await intelOn(host).collect(session)).collected_at).toBe(expected);
  });

  it("has no probe's fault for native values that throw, lie or have holes", async () => {
    const trap = Object.defineProperty({}, "board", {
      enumerable: true,
      get: () => {
        throw new Error("/secret");
      },
    });
    const lying = Object.assign([1n], { every: () => true });
    const host = fakeHost((probe) => {
      const named = { manufacturer: "m", model: "m", brand: "b", systemName: "n", systemVersion: "1", isTablet: false };
      if (probe === "device_identity") return { fields: { ...named, androidBuild: trap } };
      return { fields: { language: "de", interfaceNames: Array(3), preferredLanguages: lying } };
    });
    const { probes } = await intelOn(host).collect(session);
    expect(probes.device_identity).toEqual({ status: "error", error: "native-failed" });
    expect(probes.network).toMatchObject({ status: "success" });
    expect(JSON.stringify(probes.network)).not.toContain("interfaceNames");
    expect(probes.locale).toEqual({ status: "success", data: { language: "de" } });
  });

  it("is told the device's clock as it is, while deadlines go by the one that never goes back", async () => {
    const host = fakeHost(undefined, { now: () => new Date(0) });
    expect((await intelOn(host).collect(session)).collected_at).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("a probe is skipped for the first of these reasons", () => {
  it("disabled, platform, consent", async () => {
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

  it.each(["unsupported", "permission"])("%s, as native code says", async (unavailable) => {
    const { probes } = await intelOn(fakeHost(() => ({ unavailable }))).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: unavailable });
  });

  it("platform, all of them, in a web bundle", async () => {
    const { probes } = await intelOn(fakeHost(undefined, { platform: "web", native: undefined })).collect(session);
    expect(new Set(Object.values(probes).map((outcome) => JSON.stringify(outcome)))).toEqual(
      new Set(['{"status":"skipped","reason":"platform"}', '{"status":"skipped","reason":"disabled"}']),
    );
  });
});

describe("consent", () => {
  it("not given is none", async () => {
    const host = fakeHost();
    const { probes } = await intelOn(host, {}).collect(session);
    expect(Object.values(probes).every(({ status }) => status === "skipped")).toBe(true);
    expect(host.collected).toEqual([]);
  });

  it("to some probes reads those alone, and enables none that is off", async () => {
    const host = fakeHost();
    await intelOn(host, { consent: consentFor("hardware", "telephony") }).collect(session);
    expect(host.collected.map(({ probe }) => probe)).toEqual(["hardware"]);
  });

  it("as a function is asked for each enabled probe of the platform, before native work", async () => {
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
  ])("of a function that %s is no consent", async (_, consent) => {
    const host = fakeHost();
    const { probes } = await intelOn(host, {
      consent,
      probes: Object.fromEntries(PROBE_IDS.map((probe) => [probe, { timeoutMs: 20 }])),
    }).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(host.collected).toEqual([]);
  });

  it("withdrawn meanwhile stops native work, and what was read does not get into the event", async () => {
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

  it("withdrawn before native work was begun lets none begin", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL });
    const collecting = intel.collect(session);
    intel.setConsent(consentFor());
    const { probes } = await collecting;
    expect(host.collected).toEqual([]);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
  });

  it("withdrawn while a function is asked does not come back with its answer, before or after reading", async () => {
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

  it("that replaces itself whenever it is asked ends all the same, as none", async () => {
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

  it("withdrawn in any turn before the event is made does not get into it", async () => {
    for (let turns = 0; turns < 25; turns++) {
      let looks = 0;
      let told: "withdrawn" | "made" | undefined;
      const withdraw = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        told ??= "withdrawn";
        intel.setConsent(consentFor());
      };
      const consent = (probe: ProbeId): boolean | Promise<boolean> => {
        if (probe === "locale" && ++looks === 2) void withdraw();
        return Promise.resolve(probe === "locale");
      };
      const onProbe = (): void => void (told ??= "made");
      const intel: DeviceIntelOnHost = intelOn(
        fakeHost(() => ({ fields: { language: "de" } })),
        { consent, onProbe },
      );
      const { locale } = (await intel.collect(session)).probes;
      expect(locale.status, `${turns} turns, ${told}`).toBe(told === "withdrawn" ? "skipped" : "success");
    }
  });

  it("replaced by one that holds the probe, too, takes nothing away", async () => {
    const host = fakeHost(() => ({ fields: { language: "de" } }));
    const intel = intelOn(host, { consent: ALL });
    const collecting = intel.collect(session);
    intel.setConsent(consentFor("locale"));
    expect((await collecting).probes.locale).toEqual({ status: "success", data: { language: "de" } });
  });

  it("withdrawn and given again does not bring back what was stopped", async () => {
    const host = fakeHost((probe) => (probe === "locale" ? settledWith({ fields: { language: "de" } }, 200) : {}));
    const intel = intelOn(host, { consent: ALL });
    const collecting = intel.collect(session);
    await vi.waitFor(() => expect(host.collected.length).toBeGreaterThan(0));
    intel.setConsent(consentFor());
    intel.setConsent(ALL);
    expect((await collecting).probes.locale).toEqual({ status: "skipped", reason: "consent" });
  });

  it("replaced by a function that says no stops native work", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : {}));
    const intel = intelOn(host, { consent: HARDWARE, deadlineMs: 300 });
    const collecting = intel.collect(session);
    await vi.waitFor(() => expect(host.collected).toHaveLength(1));
    intel.setConsent(() => false);
    expect((await collecting).probes.hardware).toEqual({ status: "skipped", reason: "consent" });
    expect(host.cancelled).toHaveLength(1);
  });

  it("that a prototype was made to give is none", async () => {
    const host = fakeHost();
    await intelOn(host, Object.create({ consent: () => true }) as Configuration).collect(session);
    expect(host.collected).toEqual([]);
  });

  it("withdrawn from behind a function is seen at the second look", async () => {
    let agreed = true;
    const host = fakeHost(() => {
      agreed = false;
      return { fields: { processorCount: 8 } };
    });
    const { probes } = await intelOn(host, { consent: () => agreed }).collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
  });

  it("is for known probes alone", () => {
    expect(() => consentFor("hardwear" as ProbeId)).toThrow(/no such probe: hardwear/);
    expect(() => consentFor(["hardware", "locale"] as never)).toThrow(/each id is an argument of its own/);
    const intel = intelOn();
    expect(() => intel.setConsent(["hardware"] as never)).toThrow(MisuseError);
  });
});

describe("time", () => {
  it("a probe that does not answer times out, is told to stop, and takes no other with it", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : { fields: { language: "en" } }));
    const { probes } = await intelOn(host, {
      consent: consentFor("hardware", "locale"),
      probes: { hardware: { timeoutMs: 20 } },
    }).collect(session);
    expect(probes.hardware).toEqual({ status: "timeout" });
    expect(probes.locale).toEqual({ status: "success", data: { language: "en" } });
    expect(host.cancelled).toHaveLength(1);
  });

  it("the deadline of the whole holds for every probe, also for those that had not begun", async () => {
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

  it("probes that measure never run beside those of another collection", async () => {
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

  it("probes that measure run when all else is done, one after the other", async () => {
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

  it("before it began reads nothing", async () => {
    const host = fakeHost();
    const controller = new AbortController();
    controller.abort();
    await expect(intelOn(host).collect({ ...session, signal: controller.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(host.collected).toEqual([]);
  });

  it("in the turn that began it reads nothing", async () => {
    const host = fakeHost();
    const controller = new AbortController();
    const collecting = intelOn(host).collect({ ...session, signal: controller.signal });
    controller.abort();
    await expect(collecting).rejects.toMatchObject({ name: "AbortError" });
    await settledWith(undefined);
    expect(host.collected).toEqual([]);
  });

  it("leaves no timer, asks for no consent and tells of no probe any more", async () => {
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

  it("leaves another one alone", async () => {
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

describe("one collection's own", () => {
  it("consent takes away from the consent in force, and adds nothing to it", async () => {
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

  it("consent that is withdrawn from behind a function is seen at the second look", async () => {
    let agreed = true;
    const host = fakeHost(() => {
      agreed = false;
      return { fields: { processorCount: 8 } };
    });
    const { probes } = await intelOn(host).collect({ ...session, consent: () => agreed });
    expect(probes.hardware).toEqual({ status: "skipped", reason: "consent" });
  });

  it("probes replace members of the configuration's, for this collection alone", async () => {
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

  it("client id is in its event alone", async () => {
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

  it("refuses what the constructor's rules refuse, and the configuration before stays in force", async () => {
    const intel = intelOn(fakeHost(), { consent: ALL, probes: { hardware: { enabled: false } } });
    const wrong = { deadlineMs: 0, consent: consentFor(), probes: { hardwear: {} } };
    expect(() => intel.setConfig(wrong as never)).toThrow(/probes.hardwear is not known; deadlineMs must be/);
    const { probes } = await intel.collect(session);
    expect(probes.hardware).toEqual({ status: "skipped", reason: "disabled" });
    expect(probes.locale.status).toBe("success");
  });

  it("mends a wrong configuration of the constructor", async () => {
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
  it("an option that collect does not know is refused, and nothing is collected", async () => {
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

  it("every option of collect is checked, and options that are no object are refused", async () => {
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

  it("is told whole, each problem with its path, and never a value", async () => {
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
  ])("a session id that the endpoint would refuse: %s", async (_, sessionId) => {
    await expect(intelOn().collect({ sessionId } as never)).rejects.toThrow(/sessionId/);
  });

  it("128 characters are taken, of any plane", async () => {
    const sessionId = "😀".repeat(128);
    expect((await intelOn().collect({ sessionId })).session_id).toBe(sessionId);
  });

  it("a configuration that is null, a list or has inherited names", async () => {
    await expect(intelOn(fakeHost(), [] as never).collect(session)).rejects.toThrow(/must be an object/);
    await expect(intelOn(fakeHost(), JSON.parse('{"probes":{"__proto__":{}}}')).collect(session)).rejects.toThrow(
      /probes.__proto__ is not known/,
    );
    expect((await intelOn(fakeHost(), null as never).collect(session)).session_id).toBe("session-1");
  });
});

describe("the host's telemetry", () => {
  it("may reject, and native code may fail to stop, without anybody's notice", async () => {
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

  it("is told id, status and duration of every probe, and may throw", async () => {
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
  const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

  it("runs from start to stop, once for several", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    const one = intel.observeTransaction();
    const other = intel.observeTransaction();
    await settled();
    one.stop();
    one.stop();
    expect(host.observation).toEqual(["started"]);
    other.stop();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("is one for all instances on a phone", async () => {
    const host = fakeHost();
    const windows = [intelOn(host, { consent: ALL, ...enabled }), intelOn(host, { consent: ALL, ...enabled })].map(
      (intel) => intel.observeTransaction(),
    );
    await settled();
    windows[0]?.stop();
    expect(host.observation).toEqual(["started"]);
    windows[1]?.stop();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("ends with the last that runs, whatever others still wait for", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    const running = intel.observeTransaction();
    await settled();
    intel.observeTransaction();
    intel.setConsent(consentFor());
    await settled();
    expect(host.observation).toEqual(["started", "stopped"]);
    running.stop();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("ends when consent is replaced by a function that says no", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    intel.observeTransaction();
    await settled();
    intel.setConsent(() => false);
    await settled();
    expect(host.observation).toEqual(["started", "stopped"]);
  });

  it("ends when consent is withdrawn", async () => {
    const host = fakeHost();
    const intel = intelOn(host, { consent: ALL, ...enabled });
    intel.observeTransaction();
    await settled();
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
    await settled();
    expect(host.observation).toEqual([]);
  });

  it("stopped before consent was given never begins", async () => {
    const host = fakeHost();
    intelOn(host, { consent: () => Promise.resolve(true), ...enabled })
      .observeTransaction()
      .stop();
    await settled();
    expect(host.observation).toEqual([]);
  });
});
