import { BACKUP_STORES, type BackupStore } from "@device-risk-signals/admin-api";
import type { Config } from "../../base/config/config.ts";
import { describeAge, describeDuration } from "../../base/messages/duration.ts";
import type { Clock } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { listLatestBackups, type TakenBackup } from "./backup-table.ts";

export interface BackupState {
  readonly store: BackupStore;
  /** When the latest recorded backup of the store began; RFC 3339. */
  readonly taken_at: string | null;
  readonly age_seconds: number | null;
  /** Why this backup is too old. */
  readonly problem: string | null;
}

const DAY_MS = 86_400_000;
/** Number of the latest backups that show how often a store is backed up. */
const LATEST = 8;

type Periods = Pick<Config["retention"], "keyBackupMs" | "backupMs">;

/** How long backups of a store are kept, as declared. No period of the journal's backups is declared. */
export function declaredPeriod(store: BackupStore, { keyBackupMs, backupMs }: Periods): number | undefined {
  if (store === "journal") return undefined;
  return store === "keys" ? keyBackupMs : backupMs;
}

/**
 * The latest recorded backup of each store. It is too old if its declared period has ended, if it is older than twice the
 * usual time between backups of the store (and than a day), or if keys are a day older than events: a restore needs keys
 * that are at least as new.
 */
export async function readBackupStates(
  executor: Executor,
  clock: Clock,
  { retention, journal }: Pick<Config, "retention" | "journal">,
): Promise<readonly BackupState[]> {
  const now = clock.now();
  const latest = await listLatestBackups(executor, now, LATEST);
  const hasJournal = journal.directory !== undefined || journal.databaseUrl !== undefined;
  const stores = BACKUP_STORES.filter((store) => store !== "journal" || hasJournal);
  return stores.map((store) => stateOf(store, latest, now, declaredPeriod(store, retention)));
}

/** @param backups of all stores, newest first. */
export function stateOf(
  store: BackupStore,
  backups: readonly TakenBackup[],
  now: number,
  periodMs: number | undefined,
): BackupState {
  const times = timesOf(store, backups);
  const [last] = times;
  if (last === undefined) return { store, taken_at: null, age_seconds: null, problem: null };
  const ageMs = Math.max(0, now - last);
  const events = store === "keys" ? timesOf("events", backups)[0] : undefined;
  const usual = usualGap(times);
  return {
    store,
    taken_at: new Date(last).toISOString(),
    age_seconds: Math.floor(ageMs / 1_000),
    problem: problemOf({ ageMs, periodMs, usual, lagMs: events === undefined ? 0 : events - last }),
  };
}

const timesOf = (store: BackupStore, backups: readonly TakenBackup[]): readonly number[] =>
  backups.filter((backup) => backup.store === store).map(({ taken_at }) => Date.parse(taken_at));

/** The median time between backups. @param times newest first. */
function usualGap(times: readonly number[]): number | undefined {
  const gaps = times.slice(1).map((time, index) => (times[index] ?? time) - time);
  return gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)];
}

interface Measured {
  readonly ageMs: number;
  readonly periodMs: number | undefined;
  readonly usual: number | undefined;
  /** How much newer the backup of the events is. */
  readonly lagMs: number;
}

function problemOf({ ageMs, periodMs, usual, lagMs }: Measured): string | null {
  if (periodMs !== undefined && ageMs > periodMs) {
    return `its declared period of ${describeDuration(periodMs)} has ended, so that no recorded backup is left`;
  }
  if (usual !== undefined && ageMs > Math.max(2 * usual, DAY_MS)) {
    return `there was one each ${describeDuration(usual)} before`;
  }
  if (lagMs > DAY_MS) {
    return `the backup of the events is ${describeDuration(lagMs)} newer, and a restore needs keys that are at least as new`;
  }
  return null;
}

/** The age of a backup, for people. */
export function describeBackup({ store, age_seconds, problem }: BackupState): string {
  if (age_seconds === null) return `${store}: none is recorded (drs backup record --store ${store})`;
  const age = `${store}: ${describeAge(age_seconds)} old`;
  return problem === null ? age : `${age}, and ${problem}`;
}
