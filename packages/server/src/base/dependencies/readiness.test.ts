import { afterEach, describe, expect, it } from "vitest";
import { Dependencies, type DependencyName } from "./dependencies.ts";
import { Monitor, type Pace } from "./monitor.ts";
import { knownReadiness, readiness } from "./readiness.ts";

const RARELY: Pace = { everyMs: 3_600_000, retryMs: 3_600_000 };
const DEADLINE_MS = 50;

const monitors: Monitor[] = [];
afterEach(async () => {
  await Promise.all(monitors.splice(0).map((monitor) => monitor.close()));
});

/** A dependency that a monitor has found up, and that will not be checked again for an hour. */
async function checkedOnce(name: DependencyName, { isProbe = true, deadlineMs = DEADLINE_MS } = {}) {
  const dependencies = new Dependencies(deadlineMs);
  const dependency = dependencies.get(name);
  let checks = 0;
  let answer = async (): Promise<void> => {};
  const ping = (): Promise<void> => {
    checks++;
    return dependency.call(() => answer(), { isProbe });
  };
  monitors.push(new Monitor(dependency, { ping, close: async () => {} }, RARELY));
  await dependency.check();
  return {
    dependencies,
    dependency,
    checks: () => checks,
    fallSilent: () => (answer = () => new Promise(() => {})),
    fail: () => (answer = () => Promise.reject(new Error("no connection"))),
  };
}

describe("readiness", () => {
  it("names a required dependency that has been silent since the last check", async () => {
    const { dependencies, fallSilent } = await checkedOnce("database");
    expect(await readiness({ dependencies }, false)).toEqual({ ready: true, lines: [] });
    fallSilent();
    expect(await knownReadiness({ dependencies }, false)).toEqual({ ready: true, lines: [] });
    expect(await readiness({ dependencies }, false)).toEqual({
      ready: false,
      lines: [expect.stringMatching(/^database: does not answer \(since /)],
    });
  });

  it("names a required dependency whose check has not ended in time, although its calls may take longer", async () => {
    const { dependencies, fallSilent } = await checkedOnce("key_store", { isProbe: false, deadlineMs: 60_000 });
    fallSilent();
    expect(await readiness({ dependencies }, false)).toEqual({ ready: false, lines: ["key store: does not answer"] });
    dependencies.abandon();
  });

  it("asks once for all requests that wait, and does not wait for a dependency that is known to be down", async () => {
    const { dependencies, checks, fail } = await checkedOnce("key_store");
    fail();
    const before = checks();
    const found = await Promise.all(Array.from({ length: 20 }, () => readiness({ dependencies }, false)));
    expect(new Set(found.map(({ ready }) => ready))).toEqual(new Set([false]));
    expect(checks() - before).toBe(1);
    expect((await readiness({ dependencies }, false)).ready).toBe(false);
    expect(checks() - before).toBe(1);
  });

  it("does not ask a dependency that is not needed to store events", async () => {
    const { dependencies, checks } = await checkedOnce("identity_provider");
    const before = checks();
    expect((await readiness({ dependencies }, false)).ready).toBe(true);
    expect(checks()).toBe(before);
  });

  it("does not wait for a check after the monitor was closed", async () => {
    const { dependencies, dependency } = await checkedOnce("database");
    await monitors[0]?.close();
    await dependency.check();
    expect((await readiness({ dependencies }, true)).lines).toEqual(["draining: this process is about to stop"]);
  });
});
