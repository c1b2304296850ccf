/** Tests that PostgreSQL stores the rows of a COPY as they were given, or reports an error. */
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { BYTEA, INT4, TEXT, type Timestamp, TIMESTAMPTZ, UUID } from "./binary-format.ts";
import { COPIES, copied, copyIn, copyRows, encodeCopy } from "./copy-in.ts";

interface Row {
  readonly text: string;
  readonly number: number;
  readonly at: Timestamp;
  readonly id: string;
  readonly bytes: Buffer;
}

const COLUMNS = [
  copied("id", UUID, (row: Row) => row.id),
  copied("text", TEXT, (row: Row) => row.text),
  copied("bytes", BYTEA, (row: Row) => row.bytes),
  copied("number", INT4, (row: Row) => row.number),
  copied("at", TIMESTAMPTZ, (row: Row) => row.at),
];
const COPY = copyIn("copy sample", COLUMNS);
COPIES.splice(COPIES.indexOf(COPY), 1);

const ROW: Row = {
  text: "",
  number: 1,
  at: { epochMs: 0 },
  id: "00000000-0000-4000-8000-000000000001",
  bytes: Buffer.of(),
};

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await sharedDatabase();
  client = new pg.Client({ connectionString: database.url("postgres"), pipeline: true });
  await client.connect();
  await client.query(
    "create temporary table sample (id uuid primary key, text text check (text <> 'no'), bytes bytea, number int4, at timestamptz)",
  );
});

afterAll(async () => {
  await client?.end();
  await database?.close();
});

it("each row is stored as it was given", async () => {
  const row: fc.Arbitrary<Row> = fc.record({
    text: fc.string({ unit: "binary", maxLength: 100 }).map((text) => text.replaceAll("\0", "")),
    number: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    at: fc.record({ epochMs: fc.integer({ min: -2e12, max: 4e12 }), micros: fc.integer({ min: 0, max: 999 }) }),
    id: fc.uuid(),
    bytes: fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes)),
  });
  const rows = fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 70 });
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const [, , read] = await Promise.all([
        client.query("delete from sample"),
        copyRows(client, encodeCopy(COPY, given)),
        client.query(
          "select id, text, bytes, number, (extract(epoch from at) * 1000000)::int8::text as micros from sample order by id",
        ),
      ]);
      expect(read.rows).toEqual(
        given
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .map(({ at: { epochMs, micros = 0 }, ...values }) => ({
            ...values,
            micros: String(BigInt(epochMs) * 1000n + BigInt(micros)),
          })),
      );
    }),
    { numRuns: 60 },
  );
});

it("a row that violates a constraint fails the COPY, and the next statements run", async () => {
  await client.query("delete from sample");
  const other = { ...ROW, id: "00000000-0000-4000-8000-000000000002" };
  await expect(copyRows(client, encodeCopy(COPY, [other, { ...ROW, text: "no" }]))).rejects.toMatchObject({
    code: "23514",
  });
  await expect(copyRows(client, encodeCopy(COPY, [ROW, ROW]))).rejects.toMatchObject({ code: "23505" });
  await copyRows(client, encodeCopy(COPY, [ROW]));
  expect((await client.query("select id from sample")).rows).toEqual([{ id: ROW.id }]);
});

it("a COPY that can't begin ignores its rows, in a transaction that then rolls back", async () => {
  await client.query("delete from sample");
  const absent = { ...COPY, text: COPY.text.replace("sample", "no_such_table") };
  const statements = [
    client.query("begin"),
    copyRows(client, encodeCopy(COPY, [ROW])),
    copyRows(client, encodeCopy(absent, [ROW])),
    client.query("commit"),
  ];
  expect((await Promise.allSettled(statements)).map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect((await client.query("select from sample")).rowCount).toBe(0);
});
