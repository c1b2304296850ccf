import type { LedgerNames } from "../../crypto/pseudonymizer.ts";
import type { Executor } from "../../postgres/database.ts";
import { findPartitions } from "../../events/partition-slices.ts";
import { searchEvents } from "../../events/search-events.ts";

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

/**
 * Looks for the subjects of holds that a replay placed again: the journal knows keyed MACs of names, not the names.
 * Called before anything is deleted; the next call looks again for a subject that is not there yet.
 *
 * @param reading in a transaction, an executor that releases the locks of each read.
 * @param asOwner runs work on a connection of the owner, who alone may name the subject of a hold.
 */
export async function resolveHolds(
  executor: Executor,
  names: LedgerNames,
  reading: Executor = executor,
  asOwner: (work: (owner: Executor) => Promise<unknown>) => Promise<unknown> = (work) => work(executor),
): Promise<void> {
  const { rows } = await executor.query<UnresolvedHold>(
    `select hold_id, subject_kind, encode(subject_mac, 'hex') as mac from legal_hold
      where lifted_at is null and num_nonnulls(account, action_id, event_id) = 0`,
  );
  for (const kind of ["account", "action_id"] as const) {
    const wanted = rows.filter(({ subject_kind }) => subject_kind === kind);
    if (wanted.length === 0) continue;
    for await (const name of namesOf(reading, kind)) {
      const mac = names.heldSubjectOf(kind, name).toString("hex");
      for (const hold of wanted) {
        if (hold.mac === mac) await asOwner((owner) => nameSubject(owner, hold, name));
      }
    }
  }
}

async function nameSubject(owner: Executor, { hold_id, subject_kind }: UnresolvedHold, name: string): Promise<void> {
  await owner.query(
    `update legal_hold set ${subject_kind} = $2
      where hold_id = $1 and num_nonnulls(account, action_id, event_id) = 0`,
    [hold_id, name],
  );
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
