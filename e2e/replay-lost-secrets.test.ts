/**
 * Tests of a restored database with a key store that lacks secrets. A replay keeps every held event that another copy
 * of the key store can open.
 */
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { partitionSecretName } from "../packages/server/src/store/crypto/partition-secrets.ts";
import { runWithBreakGlass, objects, PRIVACY, type Printed } from "./support/command.ts";
import { connectAsOwner } from "./support/database.ts";
import { copyOf, databaseName, useAdministeredCluster } from "./support/database-copy.ts";
import { openTestSystem } from "./support/parties.ts";
import { Past, type PastEvent } from "./support/past-event.ts";
import { applyPeriod } from "./support/policy.ts";

const cluster = useAdministeredCluster();

const WHY = ["--reason", "a test of a restore"];
const REFUSED = /the key store lacks keys of what a hold keeps.*Restore the latest copy.*drs key accept-loss/;

/**
 * States of the key store: from before the account had a secret, from before the hold had one, as old as the backup of
 * the events, and current.
 */
type Copy = "without the account" | "without the hold" | "of the backup" | "of now";

interface Restored {
  readonly environment: Record<string, string>;
  readonly drs: (...args: readonly string[]) => Promise<Printed>;
  readonly use: (copy: Copy) => Promise<void>;
  readonly start: () => Promise<void>;
  /** Events of the account under the hold. */
  readonly events: readonly PastEvent[];
  readonly read: (event: PastEvent) => Promise<Printed>;
}

/**
 * Restores a backup in which an account with events is under a hold. The account was erased after the backup.
 * @param hoursAgo the ages of the account's events. An event expires after an hour, and the hold has copies of the
 * expired events.
 */
async function restored(...hoursAgo: readonly number[]): Promise<Restored> {
  const databaseEnvironment = await cluster.database.environment();
  const environment: Record<string, string> = {
    ...databaseEnvironment,
    DRS_ERASURE_JOURNAL: join(cluster.folder, databaseName(databaseEnvironment["DRS_DATABASE_URL"])),
  };
  const keys = environment["DRS_KEY_DIR"] ?? "";
  const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);
  const copyKeys = (copy: Copy): Promise<void> => cp(keys, `${keys} ${copy}`, { recursive: true });
  await applyPeriod(environment, cluster.folder, "PT1H");
  const system = await openTestSystem(environment);
  const past = new Past(system);
  await past.store(0, { account: "other" });
  await copyKeys("without the account");
  const events: PastEvent[] = [];
  for (const hours of hoursAgo) events.push(await past.store(hours, { account: "held" }));
  await copyKeys("without the hold");
  await past.close();
  await system.close();
  const order = ["--account", "held", ...WHY, "--approver", "J. Doe", "--review", "2999-01-31"];
  expect(await drs("hold", "add", ...order)).toMatchObject({ code: 0 });
  expect(await drs("retention", "run")).toMatchObject({ code: 0 });
  const restore = await copyOf(cluster.admin, databaseName(environment["DRS_DATABASE_URL"]));
  await copyKeys("of the backup");
  expect(await drs("erase", "run", "--account", "held", ...WHY, "--yes")).toMatchObject({ code: 3 });
  await copyKeys("of now");
  await restore();
  return {
    environment,
    drs,
    events,
    use: async (copy) => {
      await rm(keys, { recursive: true });
      await cp(`${keys} ${copy}`, keys, { recursive: true });
    },
    start: async () => (await openTestSystem(environment)).close(),
    read: ({ eventId }) => drs("event", "get", eventId, "--raw", ...PRIVACY),
  };
}

test.each<{ first: Copy; hoursAgo: readonly number[] }>([
  { first: "of the backup", hoursAgo: [0, 40] },
  { first: "without the account", hoursAgo: [0] },
  { first: "without the hold", hoursAgo: [0, 40] },
])("a replay keeps what a hold covers; the first key store is the one $first", async ({ first, hoursAgo }) => {
  const { drs, use, start, events, read } = await restored(...hoursAgo);
  if (first !== "of the backup") {
    await use(first);
    await expect(start()).rejects.toThrow(REFUSED);
    for (const args of [
      ["erase", "replay"],
      ["retention", "run"],
    ]) {
      expect(await drs(...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(REFUSED) });
    }
  }
  await use("of the backup");
  await start();
  for (const event of events) expect(await read(event)).toMatchObject({ code: 0, stdout: event.exact });
});

test.each(["--event", "--account"])(
  "erase run %s is rejected if a hold covers an event whose secret only another copy of the key store has",
  async (option) => {
    const environment = await cluster.database.environment();
    environment["DRS_ERASURE_JOURNAL"] = join(cluster.folder, databaseName(environment["DRS_DATABASE_URL"]));
    const keys = environment["DRS_KEY_DIR"] ?? "";
    const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);
    await applyPeriod(environment, cluster.folder, "PT1H");
    const system = await openTestSystem(environment);
    const past = new Past(system);
    // Each start requires the secrets of partitions that have not expired, so the partition of this event has expired.
    const held = await past.store(40, { account: "held" });
    await past.close();
    const order = ["--account", "held", ...WHY, "--approver", "J. Doe", "--review", "2999-01-31"];
    expect(await drs("hold", "add", ...order)).toMatchObject({ code: 0 });
    await cp(keys, `${keys} whole`, { recursive: true });
    const { rows } = await system.pool.query<{ id: string }>(
      "select partition_id as id from event_partition where lower_bound <= $1 and $1 < upper_bound",
      [new Date(held.receivedAt)],
    );
    await system.secrets.discard(partitionSecretName(rows[0]?.id ?? ""));
    await system.close();
    const subject = [option, option === "--event" ? held.eventId : "held"];
    const refused = { code: 1, stdout: "", stderr: expect.stringMatching(REFUSED) };
    expect(await drs("erase", "run", ...subject, ...WHY, "--yes")).toMatchObject(refused);
    await rm(keys, { recursive: true });
    await cp(`${keys} whole`, keys, { recursive: true });
    expect(await drs("event", "get", held.eventId, "--raw", ...PRIVACY)).toMatchObject({ code: 0, stdout: held.exact });
    expect(await drs("erase", "run", ...subject, ...WHY, "--yes")).toMatchObject({ code: 3 });
    expect(await drs("event", "get", held.eventId, "--raw", ...PRIVACY)).toMatchObject({ code: 0, stdout: held.exact });
  },
);

test("after the loss is accepted, the replay continues and the hold keeps the attributes", async () => {
  const { drs, use, start, events, read } = await restored(0);
  await use("without the account");
  const accepted = await drs("key", "accept-loss", ...WHY, "--yes", "--json");
  expect(objects(accepted.stdout), accepted.stderr).toMatchObject([{ events: 1, accounts: 1, copies: 0 }]);
  await start();
  const listed = objects((await drs("event", "list", "--account", "held", ...PRIVACY, "--json")).stdout);
  expect(listed.map(({ event_id }) => event_id)).toEqual(events.map(({ eventId }) => eventId));
  for (const event of events) {
    expect(await read(event)).toMatchObject({ code: 1, stderr: expect.stringContaining("the loss was accepted") });
  }
});

test("secrets that the key store has destroyed for the erasure itself stop no replay, and the hold keeps the attributes", async () => {
  const { environment, drs, use, start, events, read } = await restored(40, 0);
  await use("of now");
  expect(await drs("key", "accept-loss", ...WHY, "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing is lost"),
  });
  await start();
  const owner = await connectAsOwner(environment);
  expect((await owner.query("select unreadable::int from erasure")).rows).toEqual([{ unreadable: 0 }]);
  await owner.end();
  const listed = objects((await drs("event", "list", "--account", "held", ...PRIVACY, "--json")).stdout);
  expect(listed.map(({ event_id }) => event_id).toSorted()).toEqual(events.map(({ eventId }) => eventId).toSorted());
  expect((await Promise.all(events.map(read))).map(({ stdout }) => stdout)).toEqual([events[0]?.exact, ""]);
});
