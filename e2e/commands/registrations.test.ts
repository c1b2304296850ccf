/** Tests of tokens and actions: they are issued or registered, listed, and rejected after their revocation. */
import { describe, expect, test } from "vitest";
import { runWithBreakGlass, type Printed } from "../support/command.ts";
import { CommandScene, PRINTED_TIME } from "../support/command-scene.ts";
import { until } from "../support/embedded.ts";
import type { Credentials } from "../support/server.ts";

const scene = new CommandScene();
const { drs, listed, object, post, store } = scene;

describe("tokens", () => {
  test("are issued, listed without their text, and rejected within seconds after their revocation", async () => {
    const issued = await object("token", "issue", "--account", "tokens", "--ttl", "15m");
    expect(issued).toMatchObject({ account: "tokens", token: expect.stringMatching(/^drs_[\w-]{43}$/) as string });
    expect(Object.keys(issued).toSorted()).toEqual(["account", "expires_at", "token", "token_id"]);
    expect(Math.abs(Date.parse(issued["expires_at"] as string) - Date.now() - 900_000)).toBeLessThan(10_000);

    const [row, ...others] = await listed("token", "list", "--account", "tokens");
    expect(others).toEqual([]);
    expect(row).toMatchObject({ token_id: issued["token_id"], account: "tokens", revoked_at: null });
    expect((await drs("token", "list")).stdout).not.toContain(issued["token"]);

    const action = await object("action", "register", "--account", "tokens", "--type", "payment");
    const who = {
      ...scene.one,
      account: "tokens",
      token: issued["token"],
      actionId: action["action_id"],
    } as Credentials;
    await store(who);
    expect(await drs("token", "revoke", issued["token_id"] as string)).toMatchObject({ code: 0, stderr: "" });
    const revoked = Date.now();
    await until(async () => (await post(who)).status === 401, 10_000);
    expect(Date.now() - revoked).toBeLessThan(6_500);
    expect(await object("token", "list", "--account", "tokens")).toMatchObject({
      revoked_at: expect.stringMatching(PRINTED_TIME) as string,
    });
    expect((await drs("token", "revoke", issued["token_id"] as string)).code).toBe(1);
    const audit = await listed("audit", "list", "--account", "tokens", "--limit", "0");
    expect(audit.map((entry) => entry["operation"])).toEqual(
      expect.arrayContaining(["token.issue", "token.revoke", "action.register"]),
    );
  });

  test("expire, even if the server has cached them", async () => {
    const { token } = await object("token", "issue", "--account", "one", "--ttl", "1s");
    const who = { ...scene.one, token } as Credentials;
    const first = await post(who);
    await until(async () => (await post(who)).status === 401, 10_000);
    expect(first.status).toBe(201);
  });

  test("are printed alone on the first line without --json", async () => {
    const { stdout } = await drs("token", "issue", "--account", "one");
    expect(stdout).toMatch(/^drs_[\w-]{43}\nFor one, until \S+\. It is not shown again\.\n$/);
  });
});

describe("actions", () => {
  const register = (...more: string[]): Promise<Printed> =>
    drs("action", "register", "--account", "actions", "--type", "payment", "--json", ...more);

  test("that are registered again with the same values keep their expiry", async () => {
    const first = await register("--id", "order-1", "--session", "s", "--ttl", "15m");
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const registered = JSON.parse(first.stdout) as Record<string, unknown>;
    expect(registered).toEqual({
      action_id: "order-1",
      action_type: "payment",
      account: "actions",
      session_id: "s",
      expires_at: expect.stringMatching(PRINTED_TIME) as string,
    });
    expect(Math.abs(Date.parse(registered["expires_at"] as string) - Date.now() - 900_000)).toBeLessThan(10_000);
    expect(await register("--id", "order-1", "--session", "s", "--ttl", "2h")).toEqual(first);
  });

  test("can't change type or session under their id, but another account may use the id", async () => {
    expect((await register("--id", "order-2", "--session", "s")).code).toBe(0);
    for (const more of [["--type", "login", "--session", "s"], ["--session", "t"], []]) {
      const { code, stdout, stderr } = await register("--id", "order-2", ...more);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain("another type or session");
    }
    expect((await register("--id", "order-2", "--account", "others", "--session", "t")).code).toBe(0);
  });

  test("can't have an id of the signed form while a signing secret is configured", async () => {
    const register = ["action", "register", "--account", "one", "--type", "payment", "--id", "v1.mine"];
    const signing = { ...scene.environment, DRS_ACTION_SIGNING_SECRET: "s".repeat(32) };
    const refused = await runWithBreakGlass(signing, ...register);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("DRS_ACTION_SIGNING_SECRET");
    expect(await object(...register)).toMatchObject({ action_id: "v1.mine" });
  });

  test("get different ids if none is given", async () => {
    const made = await Promise.all([register(), register()]);
    const ids = made.map(({ stdout }) => (JSON.parse(stdout) as { action_id: string }).action_id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^act_/);
  });

  test("that are revoked are rejected within seconds, and can't be registered again", async () => {
    const { action_id: actionId } = await object("action", "register", "--account", "one", "--type", "payment");
    const who = { ...scene.one, actionId } as Credentials;
    await store(who);
    expect(await drs("action", "revoke", actionId as string, "--account", "two")).toMatchObject({ code: 1 });
    expect(await drs("action", "revoke", actionId as string, "--account", "one")).toMatchObject({ code: 0 });
    const revoked = Date.now();
    await until(async () => (await post(who)).status === 403);
    expect(Date.now() - revoked).toBeLessThan(6_500);
    const again = ["action", "register", "--account", "one", "--type", "payment", "--id", actionId as string];
    expect(await drs(...again)).toMatchObject({ code: 1, stderr: expect.stringContaining("revoked") as string });
    const row = (await listed("action", "list", "--account", "one")).find((action) => action["action_id"] === actionId);
    expect(row).toMatchObject({ action_type: "payment", revoked_at: expect.stringMatching(PRINTED_TIME) as string });
  });
});
