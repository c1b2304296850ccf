import type { ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { describe, expect, it, vi } from "vitest";
import type { ProbeReport } from "./configuration.ts";
import { consentFor } from "./consent.ts";
import { fakeHost, NEVER } from "./host.fixture.ts";
import { ALL, HARDWARE, intelOn, session, settledWith } from "./intel.fixture.ts";

describe("a time limit", () => {
  it("of a probe ends this probe with a timeout, cancels its native work, and affects no other probe", async () => {
    const host = fakeHost((probe) => (probe === "hardware" ? NEVER : { fields: { language: "en" } }));
    const { probes } = await intelOn(host, {
      consent: consentFor("hardware", "locale"),
      probes: { hardware: { timeoutMs: 20 } },
    }).collect(session);
    expect(probes.hardware).toEqual({ status: "timeout" });
    expect(probes.locale).toEqual({ status: "success", data: { language: "en" } });
    expect(host.cancelled).toHaveLength(1);
  });

  it("of the collection ends every probe, including probes that have not started", async () => {
    // A timer may end a millisecond early. Then a probe would start in the last millisecond of the collection.
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

  it("probes that measure time never run at the same time as those of another collection", async () => {
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

  it("probes that measure time run after all other probes, one after the other", async () => {
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

  it("reads nothing from the device if it is aborted before it begins", async () => {
    const host = fakeHost();
    const controller = new AbortController();
    controller.abort();
    await expect(intelOn(host).collect({ ...session, signal: controller.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(host.collected).toEqual([]);
  });

  it("reads nothing from the device if it is aborted in the turn of the event loop in which it began", async () => {
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
    const askedProbes: string[] = [];
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
      askedProbes.push(probe);
      return Promise.resolve(true);
    };
    const controller = new AbortController();
    const intel = intelOn(host, { consent, onProbe: (report) => void reports.push(report) });
    const collecting = intel.collect({ ...session, signal: controller.signal });
    await vi.waitFor(() => expect(host.collected.length).toBeGreaterThan(0));
    const before = askedProbes.length;
    controller.abort();
    await expect(collecting).rejects.toMatchObject({ name: "AbortError" });
    await settledWith(undefined);
    expect(timers.size).toBe(0);
    expect(askedProbes).toHaveLength(before);
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
