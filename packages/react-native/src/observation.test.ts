import { describe, expect, it } from "vitest";
import { consentFor } from "./consent.ts";
import { fakeHost } from "./host.fixture.ts";
import { ALL, HARDWARE, intelOn } from "./intel.fixture.ts";

describe("the window of transaction_safety", () => {
  const enabled = { probes: { transaction_safety: { enabled: true } } };
  const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

  it("lasts from start to stop, with one native observation for several windows", async () => {
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

  it("has no native observation after the last running window ended, even if others still wait for consent", async () => {
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

  it("ends when consent is replaced by a function that answers false", async () => {
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
