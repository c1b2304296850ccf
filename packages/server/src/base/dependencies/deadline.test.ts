import { describe, expect, it } from "vitest";
import { Unavailable } from "../ports.ts";
import { Dependencies, type Health } from "./dependencies.ts";
import { withDeadline } from "./deadline.ts";

const never = (): Promise<never> => new Promise(() => {});
const block = (milliseconds: number): void => {
  const end = Date.now() + milliseconds;
  while (Date.now() < end);
};
const expired = (): Error => new Unavailable("expired", { code: "dependency-silent" });

describe("a deadline of calls", () => {
  it("returns an answer that arrives in time", async () => {
    expect(await withDeadline({ ms: 1_000, expired }, async () => "answer")).toBe("answer");
    const failing = withDeadline({ ms: 1_000, expired }, () => Promise.reject(new TypeError("its own")));
    await expect(failing).rejects.toThrow(TypeError);
  });

  it("cancels a call that does not end", async () => {
    let reason: unknown;
    const call = withDeadline({ ms: 10, expired }, (signal) => {
      signal.addEventListener("abort", () => (reason = signal.reason));
      return never();
    });
    await expect(call).rejects.toMatchObject({ code: "dependency-silent" });
    expect(reason).toMatchObject({ code: "dependency-silent" });
  });

  it("is extended for as long as the call makes progress", async () => {
    let asked = 0;
    const call = withDeadline({ ms: 10, expired, isProgressing: async () => ++asked < 3 }, never);
    await expect(call).rejects.toMatchObject({ code: "dependency-silent" });
    expect(asked).toBe(3);
  });

  it("reads an answer that came while the process was busy", async () => {
    const answer = new Promise((resolve) => setTimeout(resolve, 20, "answer"));
    const call = withDeadline({ ms: 10, expired }, () => answer);
    block(60);
    expect(await call).toBe("answer");
  });

  it("reads the answers of several round trips while the process is busy", async () => {
    const busy = setInterval(() => block(30), 1);
    const roundTrips = async (): Promise<string> => {
      for (let trip = 0; trip < 3; trip++) await new Promise((resolve) => setTimeout(resolve, 1));
      return "answer";
    };
    expect(await withDeadline({ ms: 40, expired }, roundTrips).finally(() => clearInterval(busy))).toBe("answer");
  });

  it("ends at once when the server stops", async () => {
    const dependencies = new Dependencies(60_000);
    const call = dependencies.get("database").call(never);
    dependencies.abandon();
    await expect(call).rejects.toThrow("the server stops");
    await expect(dependencies.get("database").call(never)).rejects.toThrow("the server stops");
  });
});

describe("a dependency of the server", () => {
  it("is down from the first failure until it answers, and reports each change once", async () => {
    const dependencies = new Dependencies(10);
    const changes: Health[] = [];
    dependencies.onChange((health) => changes.push(health));
    const dependency = dependencies.get("introspection");
    for (let n = 0; n < 2; n++) await expect(dependency.call(never)).rejects.toThrow(/introspection gave no answer/);
    expect(dependency.health).toMatchObject({ problems: ["does not answer"], since: expect.any(Number) });
    await dependency.call(async () => {});
    expect(changes.map(({ problems }) => problems)).toEqual([["does not answer"], []]);
    expect(dependencies.canStore).toBe(true);
  });

  it("that is required prevents the storage of events until its monitor confirms it, even if calls succeed", async () => {
    const dependencies = new Dependencies(10);
    const dependency = dependencies.get("key_store");
    dependency.monitored(async () => {});
    await expect(dependency.call(never)).rejects.toMatchObject({ code: "dependency-silent" });
    await dependency.call(async () => {});
    expect(dependencies.canStore).toBe(false);
    dependency.resolve("away");
    expect(dependencies.canStore).toBe(true);
  });

  it("is up if its answer is an error", async () => {
    const dependency = new Dependencies(10).get("database");
    const failing = dependency.call(() => Promise.reject(new TypeError("denied")), { isAway: () => false });
    await expect(failing).rejects.toThrow("denied");
    expect(dependency.isUp).toBe(true);
  });

  it("that answers its monitor with an error is reported with the reason, even if it was down before", () => {
    const dependency = new Dependencies(10).get("key_store");
    dependency.reportUnreachable(new Unavailable("no answer", { code: "dependency-silent" }));
    const problem = "can't be used: its login lacks a privilege";
    const unusable = new Unavailable(problem, { code: "dependency-unusable", detail: { problem } });
    dependency.reportUnreachable(unusable);
    expect(dependency.health.problems).toEqual(["can't be used: its login lacks a privilege"]);
  });
});
