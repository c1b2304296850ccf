/** Tests that the orders in the erasure journal are applied to a restored database. */
import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { accountSecretName } from "../packages/server/src/store/crypto/sealer.ts";
import { partitionSecretName } from "../packages/server/src/store/crypto/partition-secrets.ts";
import { objects, PRIVACY, runWithBreakGlass } from "./support/command.ts";
import { connectAsOwner } from "./support/database.ts";
import { secretExists, secretFile } from "./support/key-directory.ts";
import { openTestSystem } from "./support/parties.ts";
import {
  expectHealthyRestore,
  startOnce,
  storeAll,
  store,
  run,
  erase,
  keysOf,
  HOLD_OPTIONS,
  useRestoreScene,
} from "./support/restore-scene.ts";

const { install, changePeriod, backUp } = useRestoreScene();

test("a restored database does not miss the secret of a partition that was dropped after the backup, and reports any other missing secret", async () => {
  const environment = await install("P3D");
  for (const hoursAgo of [40, 30, 0]) await store(environment, "a1", hoursAgo);
  const restore = await backUp(environment, "database");
  await changePeriod(environment, "PT35H");
  await run(environment, 0, "retention", "run");
  await restore();
  await startOnce(environment);
  // From here on, the restored database destroys as many secrets as the lost database did after the backup.
  await store(environment, "a1", 46);
  await changePeriod(environment, "PT43H");
  await run(environment, 0, "retention", "run");
  await startOnce(environment);
  await expectHealthyRestore(environment);

  const owner = await connectAsOwner(environment);
  const { rows } = await owner.query<{ id: string }>(
    "select partition_id as id from event_partition where transaction_time() - interval '30 hours' between lower_bound and upper_bound",
  );
  await owner.end();
  await rm(secretFile(environment, partitionSecretName(rows[0]?.id ?? "")));
  await expect(openTestSystem(environment)).rejects.toThrow(/older than the events/);
});

test("an erasure is applied to a backup of another history, in which its subject has other ids", async () => {
  const environment = await install("P1Y");
  const restoreEmpty = await backUp(environment, "database");
  const subjects = [
    ["--account", "alice"],
    ["--account", "bob"],
    ["--account", "carol", "--purpose", "default"],
  ];
  const ofAction = { account: "erin", actionId: "act_1" };
  const accounts = ["alice", "bob", "carol"].map((account) => ({ account }));
  const [stays] = await storeAll(environment, 1, { account: "erin" }, ofAction, ...accounts);
  const keys = await keysOf(environment, "alice", "bob", "carol");
  const restoreFull = await backUp(environment, "database");

  await restoreEmpty();
  await storeAll(environment, 1, { account: "alice" }, { account: "carol" });
  for (const subject of [...subjects, ["--action", "act_1"]]) await erase(environment, 0, ...subject, "--unknown");
  await restoreFull();
  await run(environment, 0, "erase", "replay");
  const listed = await runWithBreakGlass(environment, "event", "list", ...PRIVACY, "--json");
  expect(objects(listed.stdout).map(({ event_id }) => event_id)).toEqual([stays?.eventId]);
  for (const key of keys) expect(await secretExists(environment, accountSecretName(key))).toBe(false);
});

test.each([
  ["hold", ["hold", "add", "--account", "dave", ...HOLD_OPTIONS], "legal_hold"],
  ["erasure", ["erase", "run", "--account", "dave", "--reason", "request 17", "--yes"], "erasure"],
])("a %s whose commit fails says that the journal has it, and a replay applies it", async (_, args, table) => {
  const environment = await install("P1Y");
  await store(environment, "dave");
  const owner = await connectAsOwner(environment);
  await owner.query(`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create constraint trigger at_commit after insert on ${table} deferrable initially deferred
      for each row execute function fail()`);
  const failed = await runWithBreakGlass(environment, ...args);
  await owner.query("drop function fail cascade");
  expect(failed).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/SQLSTATE P0001.*\n.*entry 1 of the erasure journal holds this order/),
  });
  await run(environment, 0, "erase", "replay");
  expect((await owner.query(`select from ${table}`)).rowCount).toBe(1);
  await owner.end();
});
