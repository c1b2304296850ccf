import { PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { describe, expect, it, vi } from "vitest";
import type { Configuration } from "./configuration.ts";
import { consentFor } from "./consent.ts";
import type { DeviceIntelOnHost } from "./device-intel-on-host.ts";
import { fakeHost, NEVER } from "./host.fixture.ts";
import { ALL, HARDWARE, intelOn, session, settledWith } from "./intel.fixture.ts";
import { MisuseError } from "./misuse.ts";

describe("consent", () => {
  it("is given to no probe by default", async () => {
    const host = fakeHost();
    const { probes } = await intelOn(host, {}).collect(session);
    expect(Object.values(probes).every(({ status }) => status === "skipped")).toBe(true);
    expect(host.collected).toEqual([]);
  });

  it("to some probes allows only these to run, and enables no probe that is disabled", async () => {
    const host = fakeHost();
    await intelOn(host, { consent: consentFor("hardware", "telephony") }).collect(session);
    expect(host.collected.map(({ probe }) => probe)).toEqual(["hardware"]);
  });

  it("as a function is called for each enabled probe of the platform, before native work starts", async () => {
    const askedProbes: ProbeId[] = [];
    const host = fakeHost(() => {
      expect(askedProbes).toContain("hardware");
      return { fields: {} };
    });
    const consent = (probe: ProbeId) => {
      askedProbes.push(probe);
      return Promise.resolve(probe === "hardware");
    };
    await intelOn(host, { consent }).collect(session);
    expect(host.collected.map(({ probe }) => probe)).toEqual(["hardware"]);
    expect(askedProbes.filter((probe) => probe === "network")).toHaveLength(1);
    expect(askedProbes).not.toContain("telephony");
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

  it("that is withdrawn during native work stops the work, whose values are then not in the event", async () => {
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

  it("that is withdrawn before native work starts prevents this work", async () => {
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

  it("as a function that replaces itself at each call counts as no consent, and the collection still ends", async () => {
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

  it("that is withdrawn in any turn before the event is made keeps the probe's values out of it", async () => {
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

  it("that is replaced by another consent that includes the probe keeps the probe's values", async () => {
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

  it("that is replaced by a function that answers false stops native work", async () => {
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

  it("that a function no longer gives is detected at the second check", async () => {
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
