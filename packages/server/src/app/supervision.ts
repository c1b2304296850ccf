/** What a running server observes of its dependencies, in addition to the calls that it makes. */

import { Monitor, type Probe } from "../dependencies/monitor.ts";
import { JournalUnfit } from "../journal/journal.ts";
import { KEY_STORE_MARKS } from "../crypto/key-store.ts";
import { lostInUse } from "../lifecycle/recovery/lost-secrets.ts";
import { PostgresProbe } from "../postgres/postgres-probe.ts";
import type { System } from "./system.ts";

export interface Supervision {
  /** Looks whether the database and the key store are as new as what was acknowledged. @throws Unavailable, JournalUnfit */
  readonly inspect: () => Promise<void>;
  close(): Promise<void>;
}

export function superviseDependencies(system: System, onFault: (fault: unknown) => void): Supervision {
  const { dependencies, pool, secrets, keyStore, keyDatabase, journalDatabase } = system;
  const database = dependencies.get("database");
  const keys = dependencies.get("key_store");

  /** The database may be an older one than before: then it lacks erasures that the journal has. */
  const inspectDatabase = async (): Promise<void> => {
    try {
      await system.catchUp();
      database.resolve("behind");
    } catch (fault) {
      if (fault instanceof JournalUnfit) database.report("behind", fault.message);
      throw fault;
    }
  };

  const inspectKeys = async (): Promise<void> => {
    const lost = await lostInUse(pool, secrets);
    if (lost.length === 0) return keys.resolve("lacking");
    const advice = "restore the latest copy of it; drs doctor lists what is sealed under them";
    keys.report("lacking", `lacks ${lost.length} secrets that events are sealed under: ${advice}`);
  };

  let inspecting: Promise<unknown> = Promise.resolve();
  const monitors = [
    new Monitor(
      database,
      new PostgresProbe({
        dependency: database,
        database: system.database,
        // Not awaited: a silent journal must not keep events from being stored.
        check: async () => void (inspecting = inspectDatabase().catch(onFault)),
      }),
    ),
    new Monitor(
      keys,
      keyDatabase
        ? new PostgresProbe({ dependency: keys, database: keyDatabase, check: inspectKeys })
        : directoryProbe(async () => void (await keyStore.readMark(KEY_STORE_MARKS.applied))),
    ),
  ];
  if (journalDatabase) {
    const dependency = dependencies.get("erasure_journal");
    monitors.push(new Monitor(dependency, new PostgresProbe({ dependency, database: journalDatabase })));
  }
  return {
    async inspect() {
      await inspectKeys();
      await inspectDatabase();
    },
    async close() {
      await Promise.all(monitors.map((monitor) => monitor.close()));
      // A monitor begins an inspection when it connects: none begins from here on.
      await inspecting;
    },
  };
}

const directoryProbe = (ping: () => Promise<void>): Probe => ({ ping, close: async () => {} });
