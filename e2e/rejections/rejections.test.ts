import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedDatabase, type TestDatabase } from "../support/database.ts";
import { makeParties, openTestSystem, type Parties } from "../support/parties.ts";
import { type ServerProcess, startServer } from "../support/server.ts";
import { failuresOf } from "./case.ts";
import { REJECTIONS } from "./cases.ts";
import { REJECTING_SERVER } from "./server-settings.ts";

describe("a rejected request gets the status, code and pointer of its row", () => {
  let database: TestDatabase;
  let server: ServerProcess;
  let parties: Parties;

  beforeAll(async () => {
    database = await sharedDatabase();
    const environment = await database.environment();
    const system = await openTestSystem(environment);
    parties = await makeParties(system);
    await system.close();
    server = await startServer({ ...environment, ...REJECTING_SERVER });
  });

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.close();
  });

  test.each(REJECTIONS)("in row $row: $name", async (rejection) => {
    expect(await failuresOf(rejection, server.url, parties)).toEqual([]);
  });

  test("no rejected request is logged as an error or answered with 500", () => {
    expect(server.stderr()).not.toContain('"error"');
  });
});
