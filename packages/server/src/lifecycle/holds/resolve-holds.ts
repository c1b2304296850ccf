import type { Pseudonymizer } from "../../crypto/pseudonymizer.ts";
import type { Executor } from "../../postgres/database.ts";
import { findPartitions } from "../../events/partition-slices.ts";
import { searchEvents } from "../../events/search-events.ts";
import type { SearchBackoff } from "./search-backoff.ts";

/** Names that are compared at once. */
const PAGE = 10_000;

type SubjectKind = "account" | "action_id";

/** Tables that name subjects; of an account that is erased only holds and their copies do. */
const TABLES: Readonly<Record<SubjectKind, readonly string[]>> = {
  account: ["account_identity", "session_token", "action", "idempotency_key", "held_event", "legal_hold"],
  action_id: ["action", "legal_hold"],
};

interface UnresolvedHold {
  readonly hold_id: string;
  readonly subject_kind: SubjectKind;
  readonly mac: string;
}

interface ResolvedHold extends UnresolvedHold {
  readonly name: string;
}

export interface ResolveOptions {
  /** In a transaction, an executor that releases the locks of each read. */
  readonly reading?: Executor;
  /** Runs work on a connection of the owner, who alone may name the subject of a hold. */
  readonly asOwner?: (work: (owner: Executor) => Promise<void>) => Promise<void>;
  /** Spaces out searches that find nothing; without it, each call searches. */
  readonly backoff?: SearchBackoff;
}

/**
 * Looks for the subjects of holds that a replay placed again: the journal knows keyed MACs of names, not the names.
 * Called before anything is deleted; a later call looks again for a subject that is not there yet.
 */
export async function resolveHolds(
  executor: Executor,
  names: Pseudonymizer,
  { reading = executor, asOwner = (work) => work(executor), backoff }: ResolveOptions = {},
): Promise<void> {
  const { rows: holds } = await executor.query<UnresolvedHold>(
    `select hold_id, subject_kind, encode(subject_mac, 'hex') as mac from legal_hold
      where lifted_at is null and num_nonnulls(account, action_id, event_id) = 0 order by hold_id`,
  );
  if (holds.length === 0) return;
  const ids = holds.map(({ hold_id }) => hold_id);
  if (backoff && !backoff.isDue(ids, await shortestPeriod(executor))) return;
  const found = [
    ...(await findSubjects(reading, names, holds, "account")),
    ...(await findSubjects(reading, names, holds, "action_id")),
  ];
  if (found.length > 0) await asOwner((owner) => nameSubjects(owner, found));
  backoff?.searched(ids);
}

/** Milliseconds, or `undefined` where events are kept without end: nothing is deleted sooner after its receipt. */
async function shortestPeriod(executor: Executor): Promise<number | undefined> {
  const text = "select extract(epoch from min(raw_retention))::float8 * 1000 as ms from purpose";
  return (await executor.query<{ ms: number | null }>(text)).rows[0]?.ms ?? undefined;
}

/** Ends with the name of the last subject that is looked for. */
async function findSubjects(
  reading: Executor,
  names: Pseudonymizer,
  holds: readonly UnresolvedHold[],
  kind: SubjectKind,
): Promise<readonly ResolvedHold[]> {
  const wanted = Map.groupBy(
    holds.filter(({ subject_kind }) => subject_kind === kind),
    ({ mac }) => mac,
  );
  const found: ResolvedHold[] = [];
  if (wanted.size === 0) return found;
  for await (const name of namesOf(reading, kind)) {
    const mac = names.heldSubjectOf(kind, name).toString("hex");
    found.push(...(wanted.get(mac) ?? []).map((hold) => ({ ...hold, name })));
    if (wanted.delete(mac) && wanted.size === 0) break;
  }
  return found;
}

async function nameSubjects(owner: Executor, found: readonly ResolvedHold[]): Promise<void> {
  for (const { hold_id, subject_kind, name } of found) {
    await owner.query(
      `update legal_hold set ${subject_kind} = $2
        where hold_id = $1 and num_nonnulls(account, action_id, event_id) = 0`,
      [hold_id, name],
    );
  }
}

/** Every name of a kind that the database knows; some come more than once. */
async function* namesOf(reading: Executor, kind: SubjectKind): AsyncGenerator<string> {
  for (const table of TABLES[kind]) yield* namesIn(reading, table, kind);
  if (kind === "account") return;
  const partitions = await findPartitions(reading);
  const actions = searchEvents<{ name: string }>(reading, {
    view: "kept_event",
    select: "distinct action_id as name",
    where: "true",
    partitions,
    values: [],
  });
  for await (const { name } of actions) yield name;
}

async function* namesIn(reading: Executor, table: string, column: SubjectKind): AsyncGenerator<string> {
  const page = `select distinct ${column} as name from ${table} where ${column} > $1 order by ${column} limit ${PAGE}`;
  for (let last: string | undefined = ""; last !== undefined;) {
    const { rows }: { rows: { name: string }[] } = await reading.query<{ name: string }>(page, [last]);
    for (const { name } of rows) yield name;
    last = rows.length === PAGE ? rows.at(-1)?.name : undefined;
  }
}
