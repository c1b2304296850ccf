/** Tests of entries that the erasure journal has lost, after the operator accepted their loss. */
import { spawn } from "node:child_process";
import { cp, readFile, rename, rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { accountSecretName } from "../packages/server/src/store/crypto/sealer.ts";
import { drsOfRun } from "./support/bundle-drs.ts";
import { runWithBreakGlass } from "./support/command.ts";
import { AWAITED_LOCKS, connectAsOwner } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { secretExists } from "./support/key-directory.ts";
import { openTestSystem } from "./support/parties.ts";
import type { PastEvent } from "./support/past-event.ts";
import {
  expectHealthyRestore,
  startOnce,
  store,
  run,
  hold,
  lift,
  erase,
  read,
  keysOf,
  entryFile,
  acceptLoss,
  useRestoreScene,
} from "./support/restore-scene.ts";

const { install, backUp } = useRestoreScene();

test("after an accepted loss a server starts on a database that was restored without the journal, and the lost erasure can be repeated", async () => {
  const environment = await install("P1Y");
  const names = ["a1", "a2", "a3"];
  const events: PastEvent[] = [];
  for (const name of names) events.push(await store(environment, name));
  const restore = await backUp(environment, "database");
  for (const name of names) await erase(environment, 0, "--account", name);
  const file = entryFile(environment, 2);
  await rename(file, `${file}.away`);
  await restore();
  await run(environment, 1, "erase", "replay");
  await acceptLoss(environment, 2);
  await run(environment, 0, "erase", "replay");
  await erase(environment, 0, "--account", "a2");
  for (const event of events) expect(await read(environment, event)).toBeUndefined();
  await expectHealthyRestore(environment);
});

test("after an accepted loss a key store from before the erasure is rejected, and the one that destroyed the keys is accepted", async () => {
  const environment = await install("P1Y");
  await store(environment, "a1");
  const keys = environment["DRS_KEY_DIR"] ?? "";
  await cp(keys, `${keys}.older`, { recursive: true });
  for (const name of ["b1", "b2"]) await store(environment, name);
  const restore = await backUp(environment, "database");
  await erase(environment, 0, "--account", "a1");
  await rm(entryFile(environment, 1));
  await acceptLoss(environment, 1);
  await restore();
  await run(environment, 0, "erase", "replay");
  await expectHealthyRestore(environment);

  await rename(keys, `${keys}.newer`);
  await cp(`${keys}.older`, keys, { recursive: true });
  await expect(openTestSystem(environment)).rejects.toThrow(/older than the events/);
  await rm(keys, { recursive: true });
  await rename(`${keys}.newer`, keys);
  await startOnce(environment);
  // The restored account key still names the destroyed secret, until the erasure is repeated or the loss of the secret
  // is accepted.
  await run(environment, 0, "key", "accept-loss", "--reason", "its erasure was lost", "--yes");
  const event = await store(environment, "a1");
  expect(await read(environment, event)).toBe(event.exact);
});

test("each restore records the loss of an entry with the time at which it was accepted", async () => {
  const environment = await install("P1Y");
  await store(environment, "a1");
  const restore = await backUp(environment, "database");
  await erase(environment, 0, "--account", "a1");
  await rm(entryFile(environment, 1));
  await acceptLoss(environment, 1);
  const recorded = async (): Promise<unknown> => {
    const owner = await connectAsOwner(environment);
    const { rows } = await owner.query<{ at: Date }>("select loss_accepted_at as at from journal_entry");
    await owner.end();
    return rows[0]?.at.toISOString();
  };
  const { at } = JSON.parse(await readFile(entryFile(environment, 1, "losses"), "utf8")) as { at: string };
  expect(await recorded()).toBe(at);
  await restore();
  await run(environment, 0, "erase", "replay");
  expect(await recorded()).toBe(at);
});

test("lost entries that are found again are applied, although the database has recorded their loss", async () => {
  const environment = await install("P1Y");
  const event = await store(environment, "a1");
  const [key = ""] = await keysOf(environment, "a1");
  await store(environment, "a2");
  const restore = await backUp(environment, "database and keys");
  await erase(environment, 0, "--account", "a1");
  const held = await hold(environment, "--account", "a2");
  await lift(environment, held);
  const files = [1, 2].map((sequence) => entryFile(environment, sequence));
  for (const file of files) await rename(file, `${file}.away`);
  await restore();
  for (const sequence of [1, 2]) await acceptLoss(environment, sequence);
  await run(environment, 0, "erase", "replay");
  expect(await read(environment, event)).toBe(event.exact);
  for (const file of files) await rename(`${file}.away`, file);
  await run(environment, 1, "doctor");
  await run(environment, 0, "erase", "replay");
  expect(await read(environment, event)).toBeUndefined();
  expect(await secretExists(environment, accountSecretName(key))).toBe(false);
  const listed = await run(environment, 0, "hold", "list");
  expect(listed, "a later entry lifted the hold").toMatchObject({ hold_id: held, lifted_at: expect.any(String) });
  const { stdout } = await runWithBreakGlass(environment, "doctor");
  expect(stdout.match(/^FAIL .*/gm), "checkpoints in the lost journal").toEqual([expect.stringMatching(/audit log/)]);
});

test("if the journal has lost an erasure, a replay destroys the secrets that the database names in an older key store", async () => {
  const environment = await install("P1Y");
  const keys = environment["DRS_KEY_DIR"] ?? "";
  await store(environment, "alice");
  const [key = ""] = await keysOf(environment, "alice");
  await cp(keys, `${keys}.older`, { recursive: true });
  await erase(environment, 0, "--account", "alice");
  await rm(entryFile(environment, 1));
  await rm(keys, { recursive: true });
  await rename(`${keys}.older`, keys);
  await acceptLoss(environment, 1);
  await run(environment, 0, "erase", "replay");
  expect(await secretExists(environment, accountSecretName(key))).toBe(false);
});

test("if an erasure was killed and the journal has lost it, its secrets are destroyed before a receipt names them", async () => {
  const environment = await install("P1Y");
  await store(environment, "alice");
  const [key = ""] = await keysOf(environment, "alice");
  const owner = await connectAsOwner(environment);
  await owner.query("select pg_advisory_lock(7236518)");
  const args = ["erase", "run", "--account", "alice", "--reason", "request 17", "--yes", "--break-glass"];
  const child = spawn(process.execPath, [drsOfRun(), ...args], {
    env: { ...process.env, ...environment },
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await until(async () => (await owner.query(`select ${AWAITED_LOCKS}`)).rowCount === 1);
  child.kill("SIGKILL");
  await ended;
  await owner.query(`select pg_terminate_backend(pid) ${AWAITED_LOCKS}`);
  await owner.query("select pg_advisory_unlock(7236518)");
  expect((await owner.query("select from erasure")).rowCount, "it is in the database").toBe(1);
  await owner.end();
  expect(await secretExists(environment, accountSecretName(key))).toBe(true);

  await rm(entryFile(environment, 1));
  await acceptLoss(environment, 1);
  await startOnce(environment);
  expect(await secretExists(environment, accountSecretName(key))).toBe(false);
  await run(environment, 0, "retention", "run");
  const erasure = { destroyed_keys: [key], finished_at: expect.any(String) };
  expect(await run(environment, 0, "erase", "list")).toMatchObject(erasure);
});

test("accept-loss reports that there is nothing to accept, and asks for no confirmation", async () => {
  const environment = await install("P1Y");
  await store(environment, "a1");
  await erase(environment, 0, "--account", "a1");
  const accept = (...args: readonly string[]): ReturnType<typeof runWithBreakGlass> =>
    runWithBreakGlass(environment, "erase", "accept-loss", "--entry", "1", "--reason", "a disk failed", ...args);
  expect(await accept()).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no loss to accept") });
  await rm(entryFile(environment, 1));
  expect(await accept()).toMatchObject({ code: 2, stderr: expect.stringContaining("confirm with --yes") });
  expect(await accept("--yes")).toMatchObject({ code: 0 });
  expect(await accept()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/loss of entry 1 .* accepted already/),
  });
});
