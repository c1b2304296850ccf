import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SERVER, sourceFiles, sqlFiles } from "./imports.ts";
import { stringsOf } from "./statements.ts";

const COMMENT = /--[^\n]*/g;
const CLOCK_OF_POSTGRES =
  /(?<![\w.])(?:(?:now|(?:clock|statement|transaction)_timestamp|timeofday)\(\)|current_(?:timestamp|date|time)\b|localtime(?:stamp)?\b)/i;

/** Files whose SQL reads PostgreSQL's own clock, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "store/postgres/functions/transaction_time.sql": "the schema's clock",
  "store/postgres/functions/wall_clock_time.sql": "the schema's clock",
  "store/postgres/demo.ts": "the schema's clock while a demo is filled",
  "store/postgres/migrate.ts": "creates its tables before the schema's clock",
  "store/postgres/bounded-client.ts": "compares with the time at which a backend started",
  "store/crypto/postgres-key-store.ts": "another database, which may have no schema of the events",
  "lifecycle/journal/postgres-journal.ts": "another database, which may have no schema of the events",
};

const readsClock = (sql: string): boolean => CLOCK_OF_POSTGRES.test(sql.replace(COMMENT, ""));

test("SQL reads the time from the schema's clock", () => {
  const text = (file: string): string => readFileSync(join(SERVER, file), "utf8");
  const reading = [
    ...sourceFiles().filter((file) => readsClock(stringsOf(text(file)))),
    ...sqlFiles().filter((file) => readsClock(text(file))),
  ];
  expect(reading.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
});

test.each([
  ["select now()", true],
  ["where at < NOW() - interval '1 day'", true],
  ["select clock_timestamp()", true],
  ["review_on <= current_date", true],
  ["default current_timestamp", true],
  ["select localtimestamp(3)", true],
  ["select transaction_time(), wall_clock_time()", false],
  ["-- until now()", false],
  ["select current_database(), clock.now()", false],
])("%s", (sql, reads) => {
  expect(readsClock(sql)).toBe(reads);
});
