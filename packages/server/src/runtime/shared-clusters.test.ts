import { afterAll, beforeAll, expect, test } from "vitest";
import {
  connectAsOwner,
  sharedDatabase,
  startDatabase,
  startEmptyDatabase,
  type TestDatabase,
} from "../../../../e2e/support/database.ts";
import { findSharedClusters } from "./shared-clusters.ts";

let shared: TestDatabase;
let separate: TestDatabase;
/** A copy of the shared cluster with the same identifier, as a standby has it. */
let copy: TestDatabase;

beforeAll(async () => {
  [shared, separate, copy] = await Promise.all([sharedDatabase(), startEmptyDatabase(), startDatabase()]);
});

afterAll(async () => {
  await shared?.close();
  await separate?.close();
  await copy?.close();
});

const at = (connectionString: string) => ({ connectionString });
/** The names of the stores that share a cluster, as the warnings have them. */
const sharedBy = async (stores: Parameters<typeof findSharedClusters>[0]): Promise<readonly string[]> =>
  (await findSharedClusters(stores)).map(({ detail }) => detail.replace(/:.*/, ""));

const KEYS_AND_EVENTS = "DRS_KEY_DATABASE_URL names the cluster of the events";
const JOURNAL_AND_EVENTS = "DRS_ERASURE_JOURNAL_DATABASE_URL names the cluster of the events";
const JOURNAL_AND_KEYS = "DRS_ERASURE_JOURNAL_DATABASE_URL names the cluster of the key store";

test.each<[string, readonly string[], () => [TestDatabase, TestDatabase | undefined, TestDatabase | undefined]]>([
  ["all three stores", [KEYS_AND_EVENTS, JOURNAL_AND_EVENTS, JOURNAL_AND_KEYS], () => [shared, shared, shared]],
  ["the key store and the journal", [JOURNAL_AND_KEYS], () => [separate, shared, shared]],
  ["the key store and a copy of it", [JOURNAL_AND_KEYS], () => [separate, shared, copy]],
  ["the events and the key store", [KEYS_AND_EVENTS], () => [shared, shared, separate]],
  ["the events and the journal", [JOURNAL_AND_EVENTS], () => [shared, separate, shared]],
  ["no two stores, for keys in a folder", [], () => [shared, undefined, separate]],
])("a cluster of %s is warned about, under any name of its host", async (_, expected, stores) => {
  const [database, keyDatabase, journalDatabase] = stores().map((one) => one && at(one.url("postgres")));
  // The other name of the host is that of the folder of the socket.
  const renamed =
    journalDatabase && at(journalDatabase.connectionString.replace("@localhost/", "@elsewhere.internal/"));
  expect(await sharedBy({ database: database ?? {}, keyDatabase, journalDatabase: renamed })).toEqual(expected);
});

test("a cluster is recognised by a login that may not read its identifier", async () => {
  const owner = await connectAsOwner({ DRS_DATABASE_URL: separate.url("postgres") });
  await owner.query("create role plain login; revoke execute on function pg_catalog.pg_control_system() from public");
  await owner.end();
  const plain = at(separate.url("postgres").replace("//postgres@", "//plain@"));
  expect(await sharedBy({ database: plain, keyDatabase: plain, journalDatabase: undefined })).toEqual([
    KEYS_AND_EVENTS,
  ]);
});

test("a database that does not answer prevents nothing", async () => {
  const away = at("postgresql://app@127.0.0.1:1/x");
  expect(await sharedBy({ database: away, keyDatabase: away, journalDatabase: away })).toEqual([]);
});
