import { afterAll, beforeAll, expect, test } from "vitest";
import pg from "pg";
import { sharedDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { journalContract } from "./journal.contract.ts";
import { postgresJournal } from "./postgres-journal.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database.close());

const newUrl = async (): Promise<string> => (await database.environment())["DRS_DATABASE_URL"] ?? "";

journalContract("a journal in PostgreSQL", async () => {
  const url = await newUrl();
  return { open: () => postgresJournal({ connectionString: url }) };
});

test("a journal in PostgreSQL allows no change or deletion of entries and losses", async () => {
  const url = await newUrl();
  const journal = await postgresJournal({ connectionString: url });
  await journal.append(1, "one");
  await journal.appendLoss(2, "lost");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const table of ["entry", "accepted_loss"]) {
    for (const change of [`update drs_journal.${table} set entry = ''`, `delete from drs_journal.${table}`]) {
      await expect(client.query(change), change).rejects.toThrow(/append-only/);
    }
  }
  await client.end();
  await journal.close();
});
