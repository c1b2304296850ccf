import { expect, test } from "vitest";
import { Dependencies, type Dependency } from "../base/dependencies/dependencies.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { DatabaseComparison } from "./database-comparison.ts";

const IDENTITY = { name: "database", flushed: 1n };
const NOTHING = { erasures: 0, holdOrders: 0, restrictionOrders: 0 };

interface Scene {
  readonly comparison: DatabaseComparison;
  readonly database: Dependency;
  /** For each clearing of the caches, whether the database was reported as behind at that moment. */
  readonly behindAtForget: boolean[];
}

function scene(...answers: readonly (typeof NOTHING | Error)[]): Scene {
  const database = new Dependencies(1000).get("database");
  const behindAtForget: boolean[] = [];
  const left = [...answers];
  const comparison = new DatabaseComparison({
    database,
    identity: IDENTITY,
    replay: async () => {
      const answer = left.shift() ?? NOTHING;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    forget: async () => void behindAtForget.push(database.has("behind")),
    onError: () => {},
  });
  return { comparison, database, behindAtForget };
}

test.each([
  new OperatorError("journal-missing", "no journal is named"),
  new OperatorError("key-store-outdated", "the key store lacks keys of what a hold keeps"),
])(
  "a database that is behind is compared at each check, even on a connection to a known database: %s",
  async (error) => {
    const { comparison, database } = scene(error);
    comparison.observe(IDENTITY, true);
    await comparison.close();
    expect(database.has("behind")).toBe(true);
    comparison.observe(IDENTITY, false);
    await comparison.close();
    expect(database.has("behind")).toBe(false);
  },
);

test("data that was read from a replaced database is forgotten before events are stored in the new one", async () => {
  const { comparison, database, behindAtForget } = scene();
  comparison.observe({ ...IDENTITY, name: "standby" }, true);
  await comparison.close();
  expect(behindAtForget).toEqual([true]);
  expect(database.has("behind")).toBe(false);
});

test("data that was read before the journal was replayed is forgotten, but not if the database lacked nothing", async () => {
  const { comparison, behindAtForget } = scene(NOTHING, { ...NOTHING, erasures: 1 });
  await comparison.compare();
  expect(behindAtForget).toEqual([]);
  await comparison.compare();
  await comparison.compare();
  expect(behindAtForget).toEqual([false]);
});
