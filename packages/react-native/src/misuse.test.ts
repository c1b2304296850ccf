import { describe, expect, it } from "vitest";
import { fakeHost } from "./host.fixture.ts";
import { intelOn, session } from "./intel.fixture.ts";
import { MisuseError } from "./misuse.ts";

describe("misuse", () => {
  it("of collect by an unknown option is rejected, and no probe runs", async () => {
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

  it("of an option of collect is rejected, as are options that are no object", async () => {
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

  it("is reported with every problem and its path, and without any value", async () => {
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

  it("does not include a session id of 128 characters outside the basic plane", async () => {
    const sessionId = "😀".repeat(128);
    expect((await intelOn().collect({ sessionId })).session_id).toBe(sessionId);
  });

  it("includes a configuration that is null, a list or has inherited members", async () => {
    await expect(intelOn(fakeHost(), [] as never).collect(session)).rejects.toThrow(/must be an object/);
    await expect(intelOn(fakeHost(), JSON.parse('{"probes":{"__proto__":{}}}')).collect(session)).rejects.toThrow(
      /probes.__proto__ is not known/,
    );
    expect((await intelOn(fakeHost(), null as never).collect(session)).session_id).toBe("session-1");
  });
});
