import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { Executor, OwnerExecutor } from "../../store/postgres/executor.ts";
import { namesOf, type SubjectKind } from "./known-names.ts";
import type { SearchBackoff } from "./search-backoff.ts";
import { narrowed, query, sql, type Statement } from "../../store/postgres/statement.ts";

interface UnresolvedHold {
  readonly hold_id: string;
  readonly subject_kind: SubjectKind;
  readonly mac: string;
}

interface ResolvedHold extends UnresolvedHold {
  readonly name: string;
}

export interface ResolveOptions {
  /** The executor for the search; in a transaction, one that releases the locks of each read. */
  readonly reading?: Executor;
  /** Runs work on a connection of the owner, because only the owner may name the subject of a hold. */
  readonly asOwner: (work: (owner: OwnerExecutor) => Promise<void>) => Promise<void>;
  /** Increases the time between searches that find nothing. Without it, each call searches. */
  readonly backoff?: SearchBackoff;
}

const LIST_UNRESOLVED_HOLDS = sql(
  `select hold_id, subject_kind, encode(subject_mac, 'hex') as mac from legal_hold
      where lifted_at is null and num_nonnulls(account, action_id, event_id) = 0 order by hold_id`,
  [],
  { hold_id: "uuid", subject_kind: narrowed<SubjectKind>("text"), mac: "text" },
);

/**
 * Looks for the subjects of holds that a replay placed again: the journal contains keyed MACs of names, not the names.
 * Callers call it before they delete anything. A later call searches again for subjects that were not found.
 */
export async function resolveHolds(
  executor: Executor,
  pseudonymizer: Pseudonymizer,
  { reading = executor, asOwner, backoff }: ResolveOptions,
): Promise<void> {
  const { rows: holds } = await query(executor, LIST_UNRESOLVED_HOLDS);
  if (holds.length === 0) return;
  const ids = holds.map(({ hold_id }) => hold_id);
  if (backoff && !backoff.isDue(ids, await shortestPeriod(executor))) return;
  const found = [
    ...(await findSubjects(reading, pseudonymizer, holds, "account")),
    ...(await findSubjects(reading, pseudonymizer, holds, "action_id")),
  ];
  if (found.length > 0) await asOwner((owner) => nameSubjects(owner, found));
  backoff?.searched(ids);
}

const FIND_SHORTEST_PERIOD = sql(
  "select extract(epoch from min(raw_retention))::float8 * 1000 as ms from purpose",
  [],
  {
    ms: "float8?",
  },
);

/**
 * The shortest retention period of raw events among all purposes, in milliseconds. A month counts as 30 days, although
 * an event may expire after 28 days. `undefined` if no purpose has a retention period.
 */
async function shortestPeriod(executor: Executor): Promise<number | undefined> {
  return (await query(executor, FIND_SHORTEST_PERIOD)).rows[0]?.ms ?? undefined;
}

/** Finds the names of the subjects of this kind. The search ends when all are found. */
async function findSubjects(
  reading: Executor,
  pseudonymizer: Pseudonymizer,
  holds: readonly UnresolvedHold[],
  kind: SubjectKind,
): Promise<readonly ResolvedHold[]> {
  const holdsByMac = Map.groupBy(
    holds.filter(({ subject_kind }) => subject_kind === kind),
    ({ mac }) => mac,
  );
  const found: ResolvedHold[] = [];
  if (holdsByMac.size === 0) return found;
  for await (const name of namesOf(reading, kind)) {
    const mac = pseudonymizer.heldSubjectOf(kind, name).toString("hex");
    found.push(...(holdsByMac.get(mac) ?? []).map((hold) => ({ ...hold, name })));
    if (holdsByMac.delete(mac) && holdsByMac.size === 0) break;
  }
  return found;
}

const nameSubject = (kind: SubjectKind): Statement<readonly [string, string], unknown> =>
  sql(
    `update legal_hold set ${kind} = $2
        where hold_id = $1 and num_nonnulls(account, action_id, event_id) = 0`,
    ["uuid", "text"],
  );
const NAME_SUBJECT = { account: nameSubject("account"), action_id: nameSubject("action_id") };

async function nameSubjects(owner: OwnerExecutor, found: readonly ResolvedHold[]): Promise<void> {
  for (const { hold_id, subject_kind, name } of found) await query(owner, NAME_SUBJECT[subject_kind], [hold_id, name]);
}
