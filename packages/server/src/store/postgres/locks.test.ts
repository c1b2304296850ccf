import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { LOCKS } from "./locks.ts";

const FUNCTIONS = join(import.meta.dirname, "functions");
const TAKEN = /pg_(?:try_)?advisory_\w+\((\d+)/g;

test("SQL functions take the locks that the list names", () => {
  const names = new Map(Object.entries(LOCKS).map(([name, number]) => [String(number), name]));
  const taken = readdirSync(FUNCTIONS).flatMap((file) =>
    [...readFileSync(join(FUNCTIONS, file), "utf8").matchAll(TAKEN)].map(([, number = ""]) => [
      basename(file, ".sql"),
      names.get(number),
    ]),
  );
  expect(Object.fromEntries(taken)).toEqual({
    apply_restrictions: "restrictions",
    ensure_account_keys: "restrictions",
    ensure_event_partition: "partitionCreation",
    ensure_feature_partition: "featurePartitionCreation",
    lock_ingestion_exclusive: "ingestion",
    lock_ingestion_shared: "ingestion",
    lock_holds: "holds",
    lock_journal: "journal",
    read_payload_to_compare: "comparedPayloads",
    record_recent_rejections: "recentRejections",
  });
});

test("each lock has a number of its own", () => {
  expect(new Set(Object.values(LOCKS)).size).toBe(Object.keys(LOCKS).length);
});
