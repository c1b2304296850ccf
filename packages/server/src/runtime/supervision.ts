/** Monitors the dependencies of a running server, in addition to the results of the server's calls. */

import type { DependencyName } from "../base/dependencies/dependencies.ts";
import { Monitor, type Pace, type Probe } from "../base/dependencies/monitor.ts";
import { type OnError, Unavailable } from "../base/ports.ts";
import { plural } from "../base/messages/plural.ts";
import { KEY_STORE_WATERMARKS } from "../store/crypto/key-store.ts";
import { lostInUse } from "../lifecycle/recovery/lost-secrets.ts";
import { monitorOptions, withClient } from "../store/postgres/database.ts";
import { identifyDatabase } from "../store/postgres/database-identity.ts";
import { PostgresProbe } from "../store/postgres/postgres-probe.ts";
import { hasOwnerLogin, storeDatabases } from "./connect.ts";
import { DatabaseComparison } from "./database-comparison.ts";
import type { RecoveryParts } from "./recover.ts";
import type { System } from "./system.ts";

/** The pauses between trials that cost more than a read: a write to a folder, a login. */
const TRIAL_PACE: Pace = { everyMs: 5_000, retryMs: 1_000 };

export interface Supervision {
  /**
   * Checks that the key store has every secret of stored events, and then calls `System.replay`.
   * @throws Unavailable, also if the key store lacks secrets; what `System.replay` throws
   */
  readonly inspect: () => Promise<void>;
  close(): Promise<void>;
}

export interface SupervisionTiming {
  /** Pauses of the monitors. */
  readonly pace?: Pace;
  /**
   * Maximum time in milliseconds between two inspections of the key store; by default the interval of retention passes.
   */
  readonly inspectEveryMs?: number;
}

/** The parts of a system that are monitored, and what is done when the database was replaced. */
export type Supervised = RecoveryParts &
  Pick<System, "administration" | "checkpointSinks" | "config" | "dependencies"> &
  Pick<System, "identity" | "partitions" | "replay" | "surfaces">;

export function superviseDependencies(
  system: Supervised,
  onError: OnError,
  { pace, inspectEveryMs = system.config.retention.intervalMs }: SupervisionTiming = {},
): Supervision {
  const { dependencies, identity, pool, secrets, keyStore } = system;
  const { keyDatabase, journalDatabase } = storeDatabases(system);
  const database = dependencies.get("database");
  const keys = dependencies.get("key_store");
  const comparison = new DatabaseComparison({
    database,
    identity,
    replay: () => system.replay(),
    forget: async () => {
      // guard(drop): a key that was found before a replay seals nothing after it
      await system.accountKeys.refreshAll();
      // Both caches are cleared in one turn of the event loop, so that everything sealed under an earlier key or
      // partition belongs to an earlier generation.
      system.accountKeys.clear();
      system.partitions.clear();
    },
    onError,
  });

  let inspectedAt = performance.now();
  /** @returns a description of what the key store lacks. */
  const inspectKeys = async (): Promise<string | undefined> => {
    inspectedAt = performance.now();
    // If a loss was accepted, this call drops the names of the lost secrets, which must not be looked up below.
    await system.accountKeys.refresh();
    const lost = await lostInUse(pool, secrets);
    if (lost.length === 0) {
      keys.resolve("lacking");
      return undefined;
    }
    const advice = "restore its latest copy, or accept the loss: drs key accept-loss; drs doctor lists what is lost";
    const problem = `lacks ${plural(lost.length, "secret")} that events are sealed under: ${advice}`;
    keys.report("lacking", problem);
    return problem;
  };

  /** Inspects the key store if no retention pass has done so in time, as in a process that runs none. */
  const inspectKeysInTurn = async (): Promise<void> => {
    if (performance.now() - inspectedAt < inspectEveryMs && !keys.has("lacking")) return;
    // An error is only reported: it may come from the database, and says nothing about the key store.
    await inspectKeys().catch((error: unknown) => onError(error, "inspect the key store"));
  };

  let triedAt = -Infinity;
  /** Tries a write less often than a read, because a write waits for the disk. */
  const tryKeyFolder = async (): Promise<void> => {
    if (performance.now() - triedAt < TRIAL_PACE.everyMs && !keys.has("away")) return;
    await keyStore.requireWritable();
    triedAt = performance.now();
  };

  const monitors = [
    new Monitor(
      database,
      new PostgresProbe({
        dependency: database,
        database: system.database,
        observe: async (client, isNew) => comparison.observe(await identifyDatabase(client), isNew),
      }),
    ),
    new Monitor(
      keys,
      keyDatabase
        ? new PostgresProbe({
            dependency: keys,
            database: keyDatabase,
            observe: async (_, isNew) => {
              await (isNew ? inspectKeys() : inspectKeysInTurn());
            },
          })
        : directoryProbe(async () => {
            await keyStore.readWatermark(KEY_STORE_WATERMARKS.applied);
            await tryKeyFolder();
            // guard(drop): a process that runs no retention passes also notices lost secrets
            await inspectKeysInTurn();
          }),
      pace,
    ),
  ];
  if (journalDatabase) {
    const dependency = dependencies.get("erasure_journal");
    monitors.push(new Monitor(dependency, new PostgresProbe({ dependency, database: journalDatabase })));
  }
  // Only a worker logs in as the owner, appends to the journal and writes checkpoints. Other processes may have neither
  // that login nor a right to write there.
  if (system.surfaces.includes("worker")) {
    if (hasOwnerLogin(system.config)) {
      const dependency = dependencies.get("owner_database");
      const database = system.administration;
      const probe = new PostgresProbe({
        dependency,
        database,
        // guard: the owner's login is tried again, because an open connection outlives a changed password
        observe: () => withClient(monitorOptions(database), async () => {}),
      });
      monitors.push(new Monitor(dependency, probe, pace ?? TRIAL_PACE));
    }
    const { journal, checkpointSinks } = system;
    const monitorFolder = (name: DependencyName, requireWritable: () => Promise<void>): void =>
      void monitors.push(new Monitor(dependencies.get(name), directoryProbe(requireWritable), pace ?? TRIAL_PACE));
    if (journal && !journalDatabase) monitorFolder("erasure_journal", () => journal.requireWritable());
    for (const { requireWritable } of checkpointSinks)
      if (requireWritable) monitorFolder("audit_checkpoints", requireWritable);
  }
  return {
    async inspect() {
      const problem = await inspectKeys();
      // guard(false): nothing is copied, replayed or deleted while the key store lacks secrets
      if (problem !== undefined) throw new Unavailable(`the key store ${problem}`);
      await comparison.compare();
    },
    async close() {
      await Promise.all(monitors.map((monitor) => monitor.close()));
      // The monitors are closed, so they begin no further comparison.
      await comparison.close();
    },
  };
}

const directoryProbe = (ping: () => Promise<void>): Probe => ({ ping, close: async () => {} });
