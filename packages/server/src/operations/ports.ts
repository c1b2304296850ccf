import type { OpenConnection } from "../runtime/connect.ts";
import { type Installation, openInstallation } from "../runtime/open-installation.ts";
import { type Keys, openKeys } from "../runtime/open-keys.ts";
import type { System } from "../runtime/system.ts";
import { type ComparisonPorts, requireReplayed } from "../lifecycle/recovery/compare-with-journal.ts";
import type { MonotonicClock } from "../base/ports.ts";
import type { AdminConnection } from "./admin-connection.ts";

/**
 * The parts of an installation that operations of the admin API use. A part that few operations need is opened at its
 * first use. An operation gets only the parts that its type names: see `Ports`.
 */
export interface AdminPorts extends Pick<
  OpenConnection,
  "access" | "administration" | "clock" | "clusterDirectory" | "config" | "database" | "environment" | "pool"
> {
  readonly monotonic: MonotonicClock;
  /** Whether this process makes the changes that need the owner's login. If not, a worker makes them. */
  readonly usesOwnerLogin: boolean;
  /** @throws installation-missing, key-store-mismatch, Unavailable */
  readonly keys: () => Promise<Keys>;
  /** @throws installation-missing, key-store-mismatch, an error with a journal-… code, Unavailable */
  readonly installation: () => Promise<Installation>;
  /** Shows a line of progress. */
  readonly report: (line: string) => void;
}

type DirectName = Exclude<keyof AdminPorts, "keys" | "installation">;

/**
 * A part that an operation uses: `pool`, or `keys.audit` if it opens the keys, or `installation.journal`.
 * The names of several parts end in `Ports`; the parts that other functions take end in `Parts`.
 */
export type PortName = DirectName | `keys.${keyof Keys}` | `installation.${keyof Installation}`;

type Member<Whole, Prefix extends string, Name> = Name extends `${Prefix}.${infer Key extends keyof Whole & string}`
  ? Key
  : never;

type Opened<Whole, Prefix extends string, Name> = [Member<Whole, Prefix, Name>] extends [never]
  ? unknown
  : { readonly [_ in Prefix]: () => Promise<Pick<Whole, Member<Whole, Prefix, Name>>> };

/** The ports with these names, and no others. */
export type Ports<Name extends PortName> = Pick<AdminPorts, Name & DirectName> &
  Opened<Keys, "keys", Name> &
  Opened<Installation, "installation", Name>;

const MONOTONIC_CLOCK: MonotonicClock = { now: () => performance.now() };

/**
 * The ports of a process that has opened the whole installation.
 * @param connection the connection of the admin API. A worker deletes and exports events through the connection of the
 * installation.
 */
export function portsOf(system: System, connection: AdminConnection = system): AdminPorts {
  const usesOwnerLogin = system.surfaces.includes("worker");
  const opened = Promise.resolve(usesOwnerLogin ? system : { ...system, ...connection });
  const open = (): typeof opened => opened;
  return {
    ...system,
    ...connection,
    usesOwnerLogin,
    monotonic: MONOTONIC_CLOCK,
    keys: open,
    installation: open,
    report: () => {},
  };
}

/** The ports of one command on the database. */
export function portsOn(connection: OpenConnection, report: AdminPorts["report"] = () => {}): AdminPorts {
  let keys: Promise<Keys> | undefined;
  let installation: Promise<Installation> | undefined;
  return {
    ...connection,
    usesOwnerLogin: true,
    monotonic: MONOTONIC_CLOCK,
    keys: () => (keys ??= installation ?? openKeys(connection)),
    installation: () => (installation ??= openInstallation(connection, keys)),
    report,
  };
}

type JournalParts = Omit<ComparisonPorts, "executor">;

/** What an operation uses that compares the database with the journal before it shows events. */
export type ReplayedPorts = "database" | "pool" | `installation.${keyof JournalParts}`;

/**
 * Compares the database with the erasure journal. A restored database could show events that were erased after its
 * backup.
 * @throws replay-needed
 */
export async function requireReplayedJournal<Parts extends JournalParts>({
  pool: executor,
  database,
  installation: open,
}: Ports<"database" | "pool"> & { readonly installation: () => Promise<Parts> }): Promise<Parts> {
  const installation = await open();
  // guard(drop): a restored database shows no event before the replay
  await requireReplayed({ ...installation, executor, database }, "head");
  return installation;
}
