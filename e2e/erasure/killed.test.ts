/** Tests of an erasure that is killed at one of its steps or at a random moment: the next process finishes it, once. */
import { spawn } from "node:child_process";
import { userInfo } from "node:os";
import { describe, expect, test } from "vitest";
import { drsOfRun } from "../support/bundle-drs.ts";
import { objects } from "../support/command.ts";
import { AWAITED_LOCKS, connectAsOwner } from "../support/database.ts";
import { until } from "../support/embedded.ts";
import { ErasureScene } from "../support/erasure-scene.ts";
import { startServer } from "../support/server.ts";
import { rounds } from "../support/soak.ts";

const scene = new ErasureScene();
const { drs, party, store, read, listed, entries, tablesWith } = scene;

/** The erasures and orders of `drs work list`. */
const work = async (): Promise<Record<string, unknown>[]> =>
  objects((await drs("work", "list", "--json")).stdout).filter(({ kind }) => kind === "erasure" || kind === "order");

describe("an erasure that is killed", () => {
  /** Runs `drs erase run`, and kills it when it waits for the lock that the statement `lock` takes. */
  async function eraseAndKill(account: string, lock: string): Promise<void> {
    const holder = await connectAsOwner(scene.environment);
    await holder.query("begin");
    await holder.query(lock, lock.includes("$1") ? [account] : []);
    const args = ["erase", "run", "--account", account, "--reason", "killed", "--yes", "--break-glass"];
    const child = spawn(process.execPath, [drsOfRun(), ...args], {
      env: { ...process.env, ...scene.environment },
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    // Ignores advisory locks, because workers also wait for these.
    const waiting = `${AWAITED_LOCKS} and locktype <> 'advisory'`;
    await until(async () => (await scene.owner.query(`select ${waiting}`)).rowCount !== 0);
    child.kill("SIGKILL");
    await ended;
    // A waiting statement would continue after its client was killed, so its backend is ended.
    await scene.owner.query(`select pg_terminate_backend(pid) ${waiting}`);
    await until(async () => (await scene.owner.query(`select ${waiting}`)).rowCount === 0);
    await holder.query("rollback");
    await holder.end();
  }

  /**
   * Each step has a title, the statement that takes the lock for which the command waits, and what is visible of the
   * erasure at this moment.
   */
  const STEPS: readonly (readonly [string, string, { readonly inDatabase: boolean; readonly ledger: number }])[] = [
    [
      "when the journal has it and the database does not",
      "select from account_key where account = $1 for update",
      { inDatabase: false, ledger: 1 },
    ],
    ["before its tombstones exist", "lock table tombstone in exclusive mode", { inDatabase: true, ledger: 1 }],
    [
      "before its ledger is deleted",
      "select from idempotency_key where account = $1 for update",
      { inDatabase: true, ledger: 1 },
    ],
    [
      "before its events are deleted",
      "select from event where account = $1 for update",
      { inDatabase: true, ledger: 1 },
    ],
  ];

  test.each(STEPS)("%s is finished by the next process, once", async (_, lock, { inDatabase, ledger }) => {
    const who = await party();
    const stored = await store(who);
    const [journalled, erasuresBefore] = [
      await entries(),
      (await scene.owner.query("select from erasure")).rowCount ?? 0,
    ];
    await eraseAndKill(who.account, lock);
    expect(await entries(), "the erasure is in the journal").toBe(journalled + 1);
    expect((await scene.owner.query("select from erasure")).rowCount).toBe(erasuresBefore + (inDatabase ? 1 : 0));
    expect((await scene.owner.query("select from idempotency_key where account = $1", [who.account])).rowCount).toBe(
      ledger,
    );
    expect(await listed(who.account)).toEqual([]);
    const [waiting] = await work();
    expect(waiting).toMatchObject(
      inDatabase
        ? { kind: "erasure", state: "waiting", waits_for: expect.stringContaining("drs retention run") }
        : { kind: "order", state: "waiting", waits_for: expect.stringContaining("drs erase replay") },
    );
    expect(JSON.stringify(waiting)).not.toContain(who.account);
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await work()).toEqual([]);
    expect(await tablesWith(who.account)).toEqual([]);
    const [erasure] = objects((await drs("erase", "list", "--json")).stdout);
    expect(erasure).toMatchObject({ events: 1, idempotency_keys: 1, finished_at: expect.any(String) });
    expect(
      [erasure?.["actor"], erasure?.["reason"]],
      "the actor and the reason of the erasure, not of the process that finished it",
    ).toEqual([expect.stringMatching(new RegExp(`^cli:${userInfo().username} \\(`)), "killed"]);
    const audited = objects((await drs("audit", "list", "--limit", "0", "--json")).stdout).filter(
      ({ detail }) => (detail as { subject_mac?: string } | null)?.subject_mac === erasure?.["subject_mac"],
    );
    expect(audited.map(({ outcome }) => outcome).toSorted()).toEqual(["begun", "done"]);
    expect((await drs("receipt", "get", String(erasure?.["erasure_id"]))).code).toBe(0);
    expect(await read(stored.eventId)).toBeUndefined();
    expect(await entries()).toBe(journalled + 1);
  });

  test("is applied by a running server if the journal has the order and the database lacks it", async () => {
    const who = await party();
    await store(who);
    const server = await startServer({ ...scene.serving, DRS_RETENTION_INTERVAL: "1s" });
    await eraseAndKill(who.account, "select from account_key where account = $1 for update");
    await until(async () => (await tablesWith(who.account)).length === 0);
    await server.stop();
  });

  test("at a random moment is finished by the next process, once", async () => {
    const who = await party();
    for (let count = 0; count < 60; count++) await store(who);
    const args = [drsOfRun(), "erase", "run", "--account", who.account, "--reason", "r", "--yes", "--break-glass"];
    const kills = rounds(3, 8);
    for (let kill = 0; kill < kills; kill++) {
      const child = spawn(process.execPath, args, { env: { ...process.env, ...scene.environment }, stdio: "ignore" });
      const ended = new Promise((resolve) => child.once("close", resolve));
      await new Promise((resolve) => setTimeout(resolve, 500 + (kill * 480) / kills));
      child.kill("SIGKILL");
      await ended;
    }
    const erase = (): ReturnType<typeof drs> =>
      drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", "--json");
    let run = await erase();
    if (run.stderr.includes("run drs erase replay")) {
      // The last erasure was killed after its entry was in the journal and before its commit in the database.
      expect((await drs("erase", "replay")).code).toBe(0);
      run = await erase();
    }
    expect(run.code, run.stderr).toBe(0);
    expect(await listed(who.account)).toEqual([]);
    expect((await scene.owner.query("select from event where account = $1", [who.account])).rowCount).toBe(0);
    const rows = objects<{ sequence: number }>((await drs("erase", "list", "--account", who.account, "--json")).stdout);
    const again = await scene.owner.query<{ events: number }>(
      "select sum(events)::int as events from erasure where kind = 'account' and sequence >= $1",
      [Math.min(...rows.map(({ sequence }) => sequence))],
    );
    expect(again.rows[0]?.events).toBe(60);
    expect(await tablesWith(who.account)).toEqual([]);
  });
});
