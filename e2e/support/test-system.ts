/** A database with an open system and a connection as the owner. The hooks of a test file open and close them. */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { System } from "../../packages/server/src/app/system.ts";
import { connectAsOwner, type OwnerClient, sharedDatabase, type TestDatabase } from "./database.ts";
import { openTestSystem } from "./parties.ts";

/**
 * A system whose members exist after the hooks have run. A test must read them from this object, not from a copy at the
 * top of its file.
 */
export interface TestSystem {
  readonly database: TestDatabase;
  readonly environment: Record<string, string>;
  readonly system: System;
  readonly owner: OwnerClient;
}

/**
 * @param each - whether the whole file has one database, or each test has one.
 * @param settings - settings in addition to the environment of the database, which are read when the system opens.
 */
export function useTestSystem(
  each: "file" | "test" = "file",
  settings: () => Record<string, string> = () => ({}),
): TestSystem {
  let database: TestDatabase;
  let opened: Partial<Omit<TestSystem, "database">> = {};

  const open = async (): Promise<void> => {
    const environment = { ...(await database.environment()), ...settings() };
    opened = { environment, system: await openTestSystem(environment) };
    opened = { ...opened, owner: await connectAsOwner(environment) };
  };
  const close = async (): Promise<void> => {
    await opened.owner?.end();
    await opened.system?.close();
    opened = {};
  };
  const member = <Name extends keyof typeof opened>(name: Name): TestSystem[Name] => {
    const value = opened[name];
    if (value === undefined) throw new Error("the system opens in a hook");
    return value;
  };

  beforeAll(async () => {
    database = await sharedDatabase();
    if (each === "file") await open();
  });
  afterAll(async () => {
    await close();
    await database?.close();
  });
  if (each === "test") {
    beforeEach(open);
    afterEach(close);
  }
  return {
    get database() {
      return database;
    },
    get environment() {
      return member("environment");
    },
    get system() {
      return member("system");
    },
    get owner() {
      return member("owner");
    },
  };
}
