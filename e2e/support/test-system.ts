/**
 * Opens a database, a system on it and a connection as the owner, for tests in one file. Hooks open and close all
 * three.
 */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { System } from "../../packages/server/src/runtime/system.ts";
import { connectAsOwner, type OwnerClient, sharedDatabase, type TestDatabase } from "./database.ts";
import { openTestSystem } from "./parties.ts";

/** A test must read the members from this object when it runs, because they do not exist before the hooks have run. */
export interface TestSystem {
  readonly database: TestDatabase;
  readonly environment: Record<string, string>;
  readonly system: System;
  readonly owner: OwnerClient;
}

/**
 * @param each - whether all tests of a file share one system, or each test has its own.
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
