/**
 * Tests of holds in the erasure journal after a restore. Events stay while a hold covers them, even if the journal has
 * other orders from after the backup.
 */
import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { holdSecretName } from "../packages/server/src/store/crypto/sealer.ts";
import { objects, PRIVACY, runWithBreakGlass } from "./support/command.ts";
import { connectAsOwner } from "./support/database.ts";
import { secretExists } from "./support/key-directory.ts";
import type { PastEvent } from "./support/past-event.ts";
import {
  expectHealthyRestore,
  storeAll,
  store,
  run,
  hold,
  lift,
  erase,
  read,
  entryFile,
  acceptLoss,
  type Environment,
  useRestoreScene,
} from "./support/restore-scene.ts";

const { install, changePeriod, backUp } = useRestoreScene();

/**
 * Checks that the key store has no secret of the hold any more.
 * @returns the number of secrets that the hold had
 */
async function expectNoSecrets(environment: Environment, holdId: string): Promise<number> {
  const owner = await connectAsOwner(environment);
  const text = "select unnest(hold_id || later_secrets) as id from legal_hold where hold_id = $1";
  const { rows } = await owner.query<{ id: string }>(text, [holdId]);
  await owner.end();
  for (const { id } of rows) {
    const exists = await secretExists(environment, holdSecretName(id));
    expect(exists, "a secret of the ended hold").toBe(false);
  }
  return rows.length;
}

test("a second hold on an erased account finds the account by the copy that the first hold made", async () => {
  const environment = await install("P1Y");
  const event = await store(environment, "alice");
  const first = await hold(environment, "--account", "alice");
  await erase(environment, 3, "--account", "alice");
  const restore = await backUp(environment, "database");
  await hold(environment, "--account", "alice");
  await lift(environment, first);
  await restore();
  await run(environment, 0, "retention", "run");
  expect(await read(environment, event)).toBe(event.exact);
});

test("if the end of a hold is replayed, the events that another hold covers stay", async () => {
  const environment = await install("PT1H");
  const event = await store(environment, "bob", 40);
  const restore = await backUp(environment, "database and keys");
  const lasting = await hold(environment, "--account", "bob");
  await run(environment, 0, "retention", "run");
  // The replay makes one copy, under the hold with the lowest id. The hold that ends must have the lowest id.
  let ended = await hold(environment, "--event", event.eventId);
  while (ended > lasting) {
    await lift(environment, ended);
    ended = await hold(environment, "--event", event.eventId);
  }
  await erase(environment, 3, "--event", event.eventId);
  await lift(environment, ended);
  await run(environment, 0, "retention", "run");
  expect(await read(environment, event)).toBe(event.exact);
  await restore();
  await run(environment, 0, "retention", "run");
  expect(await read(environment, event)).toBe(event.exact);
  expect(await expectNoSecrets(environment, ended), "one secret of the hold, and one of the replay").toBe(2);
});

test.each(["after", "before"])(
  "a hold placed %s the backup ends again, although its secret is destroyed",
  async (when) => {
    const environment = await install("P1Y");
    const event = await store(environment, "carol");
    const before = when === "before" && (await hold(environment, "--account", "carol"));
    const restore = await backUp(environment, "database");
    const ended = before || (await hold(environment, "--account", "carol"));
    await erase(environment, 3, "--account", "carol");
    await lift(environment, ended);
    await run(environment, 0, "retention", "run");
    expect(await expectNoSecrets(environment, ended)).toBe(1);
    await restore();
    await run(environment, 0, "erase", "replay");
    await run(environment, 0, "retention", "run");
    expect(await expectNoSecrets(environment, ended), "one secret of the hold, and one of the replay").toBe(2);
    expect(await read(environment, event)).toBeUndefined();
    await expectHealthyRestore(environment);
  },
);

test("if the end of a hold is replayed, the tombstones of its copies stay, and its receipt counts the copies", async () => {
  const environment = await install("PT1H");
  await store(environment, "dora", 40);
  const ended = await hold(environment, "--account", "dora");
  await run(environment, 0, "retention", "run");
  const restore = await backUp(environment, "database");
  await lift(environment, ended);
  await run(environment, 0, "retention", "run");
  await restore();
  await run(environment, 0, "erase", "replay");
  await run(environment, 0, "retention", "run");
  const listed = objects((await runWithBreakGlass(environment, "erase", "list", "--json")).stdout);
  expect(listed.find(({ sequence }) => sequence === 3)).toMatchObject({ copies: 1, destroyed_keys: [ended] });
  const owner = await connectAsOwner(environment);
  expect((await owner.query("select from tombstone")).rowCount).toBe(1);
  await owner.end();
});

test("if the journal has lost the end of a hold, the hold ends again, although its secret is destroyed", async () => {
  const environment = await install("P1Y");
  const event = await store(environment, "carol");
  const ended = await hold(environment, "--account", "carol");
  const restore = await backUp(environment, "database");
  await erase(environment, 3, "--account", "carol");
  await lift(environment, ended);
  await run(environment, 0, "retention", "run");
  await rm(entryFile(environment, 4));
  await restore();
  await acceptLoss(environment, 4);
  await run(environment, 0, "erase", "replay");
  await run(environment, 0, "retention", "run");
  expect(await expectNoSecrets(environment, ended), "one secret of the hold, and one of the replay").toBe(2);
  expect(await read(environment, event)).toBeUndefined();
  await expectHealthyRestore(environment);
});

test("an erasure is replayed although it covers a held event whose partition was dropped since", async () => {
  const environment = await install("P3D");
  const [event, held] = (await storeAll(environment, 40, { account: "a1" }, { account: "a2" })) as [
    PastEvent,
    PastEvent,
  ];
  for (const account of ["a1", "a2"]) await hold(environment, "--account", account);
  const restore = await backUp(environment, "database");
  await changePeriod(environment, "PT35H");
  await run(environment, 0, "retention", "run");
  await erase(environment, 3, "--event", event.eventId);
  await restore();
  await run(environment, 0, "erase", "replay");
  expect(await read(environment, event)).toBeUndefined();

  await changePeriod(environment, "PT35H");
  await run(environment, 0, "retention", "run");
  const listed = await run(environment, 0, "event", "list", "--account", "a2", ...PRIVACY);
  expect(listed, "the hold keeps the attributes").toMatchObject({ event_id: held.eventId });
});

test("the serving role can't name the account of a replayed hold", async () => {
  const environment = await install("P1Y");
  const restore = await backUp(environment, "database");
  await run(environment, 0, "purpose", "list");
  await runWithBreakGlass(environment, "token", "issue", "--account", "erin");
  await hold(environment, "--account", "erin");
  await restore();
  await run(environment, 0, "erase", "replay");
  expect(await run(environment, 0, "hold", "list")).toMatchObject({ account: null, is_unresolved: true });
  const doctor = await runWithBreakGlass(environment, "doctor");
  expect(doctor.stdout).toMatch(
    /^ok {4}holds: 1 hold \(1 unresolved: account or action not known yet\), \d+ cop(y|ies) of held events$/m,
  );
  const owner = await connectAsOwner(environment);
  await owner.query("set role drs_service");
  const changed = owner.query("update legal_hold set account = 'mallory'");
  await expect(changed).rejects.toMatchObject({ code: "42501" });
  await owner.end();
  await runWithBreakGlass(environment, "token", "issue", "--account", "erin");
  await run(environment, 0, "erase", "replay");
  expect(await run(environment, 0, "hold", "list")).toMatchObject({ account: "erin", is_unresolved: false });
});
