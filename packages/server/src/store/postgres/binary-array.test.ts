import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { openTestSystem } from "../../../../../e2e/support/parties.ts";
import type { System } from "../../runtime/system.ts";
import { byteaArray, int4Array, textArray, timestamptzArray, uuidArray } from "./binary-array.ts";

let database: TestDatabase;
let system: System;

beforeAll(async () => {
  database = await sharedDatabase();
  system = await openTestSystem(await database.environment());
});

afterAll(async () => {
  await system?.close();
  await database?.close();
});

/** Returns the items of an array as PostgreSQL's `select` shows them, in order. */
async function asRead<T>(type: string, array: Buffer, show = "item"): Promise<T[]> {
  const text = `select ${show} as item from unnest($1::${type}[]) with ordinality as u (item, place) order by place`;
  const { rows } = await system.pool.query<{ item: T }>(text, [array]);
  return rows.map(({ item }) => item);
}

const RUNS = { numRuns: 60 };

describe("PostgreSQL reads a binary array as it was written", () => {
  it("of bytea", async () => {
    const items = fc.array(
      fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
      { maxLength: 70 },
    );
    await fc.assert(
      fc.asyncProperty(items, async (given) => {
        expect(await asRead("bytea", byteaArray(given))).toEqual(given);
      }),
      RUNS,
    );
  });

  it("of text: every character but U+0000, which no text may have", async () => {
    const character = fc.string({ unit: "binary", minLength: 1, maxLength: 1 }).filter((one) => one !== "\0");
    const odd = fc.constantFrom("NULL", "null", "{}", '"', "\\", ",", "", " ", "\n", "\u{10FFFF}", "\uFFFF", "é", "'");
    const items = fc.array(fc.oneof(odd, fc.string({ unit: character, maxLength: 100 })), { maxLength: 70 });
    await fc.assert(
      fc.asyncProperty(items, async (given) => {
        expect(await asRead("text", textArray(given))).toEqual(given);
      }),
      RUNS,
    );
  });

  it("of int4", async () => {
    const items = fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 70 });
    await fc.assert(
      fc.asyncProperty(items, async (given) => {
        expect(await asRead("int4", int4Array(given))).toEqual(given);
      }),
      RUNS,
    );
  });

  it("of uuid, in upper or lower case", async () => {
    const items = fc.array(fc.tuple(fc.uuid(), fc.boolean()), { maxLength: 70 });
    await fc.assert(
      fc.asyncProperty(items, async (given) => {
        const spelt = given.map(([id, upper]) => (upper ? id.toUpperCase() : id));
        expect(await asRead("uuid", uuidArray(spelt))).toEqual(given.map(([id]) => id));
      }),
      RUNS,
    );
  });

  it("of timestamptz, to the microsecond, from the year 1 on, also before 1970 and before 2000", async () => {
    const instant = fc.record({
      epochMs: fc.integer({ min: Date.parse("0001-01-01T00:00:00Z"), max: Date.parse("9999-12-31T23:59:59.999Z") }),
      micros: fc.option(fc.integer({ min: 0, max: 999 }), { nil: undefined }),
    });
    const show = `to_char(item at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
    await fc.assert(
      fc.asyncProperty(fc.array(instant, { maxLength: 70 }), async (given) => {
        const items = given.map(({ epochMs, micros }) => (micros === undefined ? { epochMs } : { epochMs, micros }));
        const expected = given.map(
          ({ epochMs, micros = 0 }) =>
            `${new Date(epochMs).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}Z`,
        );
        expect(await asRead("timestamptz", timestamptzArray(items), show)).toEqual(expected);
      }),
      RUNS,
    );
  });
});

describe("an empty binary array", () => {
  it.each([
    ["bytea", byteaArray([])],
    ["text", textArray([])],
    ["int4", int4Array([])],
    ["uuid", uuidArray([])],
    ["timestamptz", timestamptzArray([])],
  ] as const)("of %s is empty, not null", async (type, array) => {
    const { rows } = await system.pool.query(`select $1::${type}[] is not null as there, cardinality($1::${type}[])`, [
      array,
    ]);
    expect(rows).toEqual([{ there: true, cardinality: 0 }]);
  });
});

it("items at the same position of several arrays become one row", async () => {
  const names = Array.from({ length: 64 }, (_, index) => `name-${index}`);
  const { rows } = await system.pool.query(
    "select count(*) as count from unnest($1::text[], $2::int4[], $3::bytea[]) as u (name, number, bytes) " +
      "where name = 'name-' || number and bytes = convert_to(name, 'UTF8')",
    [textArray(names), int4Array([...names.keys()]), byteaArray(names.map((name) => Buffer.from(name)))],
  );
  expect(rows).toEqual([{ count: 64 }]);
});
