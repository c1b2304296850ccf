/** A system with a separate folder, and `drs` with its environment. The scenes of lifecycle tests extend this scene. */
import type { System } from "../../packages/server/src/runtime/system.ts";
import { runWithBreakGlass, type Printed } from "./command.ts";
import type { OwnerClient, TestDatabase } from "./database.ts";
import { applyPeriod } from "./policy.ts";
import { type TestSystem, useTestSystem } from "./test-system.ts";
import { useFolder } from "./use-folder.ts";

/** A system with a folder. A test file creates the scene at its top; hooks of the scene open and close everything. */
export class SystemScene {
  readonly #folder = useFolder();
  readonly #opened: TestSystem;

  /** @param settings settings in addition to the environment of the database. They are read when the system opens. */
  constructor(settings: (folder: string) => Record<string, string>) {
    this.#opened = useTestSystem("file", () => settings(this.folder));
  }

  get folder(): string {
    return this.#folder();
  }

  get environment(): Record<string, string> {
    return this.#opened.environment;
  }

  get system(): System {
    return this.#opened.system;
  }

  get owner(): OwnerClient {
    return this.#opened.owner;
  }

  get database(): TestDatabase {
    return this.#opened.database;
  }

  readonly drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(this.environment, ...args);

  readonly applyPeriod = (period: string): Promise<void> => applyPeriod(this.environment, this.folder, period);
}
