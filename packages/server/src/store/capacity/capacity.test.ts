/** Compares what `drs capacity` computes with measured loads, and with the database's own rules. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectAsOwner, startDatabase, type TestDatabase } from "../../../../../e2e/support/database.ts";
import { type Load, measureLoad } from "./measured-load.fixture.ts";
import { bytesOfEvent, partitionsFor } from "./plan.ts";

let database: TestDatabase;

beforeAll(async () => {
  // The write-ahead log that is measured is that of the whole cluster.
  database = await startDatabase();
});
afterAll(() => database?.close());

describe("what one event adds is within 15 percent of what it added", () => {
  const few: Load = { events: 4_000, batch: 2, ledgerRows: 0, probes: 1 };
  const many: Load = { events: 12_000, batch: 32, ledgerRows: 200_000, probes: 0.3 };

  it.each([
    ["to a new database, in batches of 2", few],
    ["to a ledger of 200,000 rows, in batches of 32, with a third of the probes", many],
  ])("%s", async (_, load) => {
    const found = await measureLoad(await database.environment(), load);
    const computed = bytesOfEvent(found.eventBytes, {
      ...load,
      partitionRows: 0,
      checkpointEvents: load.events,
      checksums: found.checksums,
      compressed: false,
    });
    const measured: typeof computed = {
      payload: found.payload,
      data: found.data,
      indexes: found.eventIndexes,
      ledger: found.ledgerTable + found.ledgerIndexes,
      audit: found.auditTable + found.auditIndexes,
      wal: found.wal + found.vacuumWal,
    };
    const ratios = Object.entries(measured).map(([name, bytes]) => [
      name,
      computed[name as keyof typeof computed] / bytes,
    ]);
    expect(ratios.filter(([, ratio]) => Number(ratio) < 0.85 || Number(ratio) > 1.15)).toEqual([]);
    expect(ratios).toHaveLength(6);
  });
});

it("partitions have the length that the database gives them", async () => {
  const owner = await connectAsOwner(await database.environment());
  const periods = [0.5, 6.9, 7, 200, 201, 1_400, 1_500, 3_650];
  const { rows } = await owner.query<{ unit: string }>(
    "select partition_unit(days * interval '1 day') as unit from unnest($1::float8[]) days",
    [periods],
  );
  await owner.end();
  expect(periods.map((days) => partitionsFor(days).unit)).toEqual(rows.map(({ unit }) => unit));
});
