import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import type { ErasureEntry, ErasureKind } from "../journal/journal.ts";
import { instant } from "../../store/postgres/instant.ts";
import { narrowed, query, sql } from "../../store/postgres/statement.ts";

/** What the register of erasures records, in addition to the entry: who ordered the erasure, and why. */
export interface ErasureRecord {
  readonly actor: string;
  readonly reason: string;
  /** Number of events under a hold that could not be copied. */
  readonly unreadable: number;
}

export interface ErasureRow {
  readonly sequence: number;
  readonly erasure_id: string;
  readonly kind: ErasureKind;
  /** The keyed MAC of the erased subject, in hexadecimal. */
  readonly subject_mac: string | null;
  readonly began_at: string;
  readonly finished_at: string | null;
  /**
   * The time at which the last copy that a hold kept was deleted; `null` if no hold kept a copy, or if a copy still
   * exists.
   */
  readonly completed_at: string | null;
  readonly actor: string;
  readonly reason: string;
  readonly events: number;
  readonly idempotency_keys: number;
  readonly tokens: number;
  readonly actions: number;
  /** Number of events that a hold kept when the erasure began. */
  readonly held: number;
  /** Number of copies of these events that a hold still keeps. */
  readonly still_held: number;
  /** Number of copies of held events whose hold has ended. The next retention pass deletes them. */
  readonly released: number;
  /**
   * Number of copies of held events that the erasure deleted. The secrets of their holds may still exist, because they
   * open copies of other events.
   */
  readonly copies: number;
  /** Number of events under a hold that could not be opened and copied. They were deleted. */
  readonly unreadable: number;
  /** Number of rows of feature values that the erasure deleted. */
  readonly features: number;
  /** Ids of the secrets that were destroyed. */
  readonly destroyed_keys: readonly string[];
  /** Ids of secrets that were lost before the erasure, so that it could not destroy them. */
  readonly lost_keys: readonly string[];
}

/**
 * Requires that an erasure is of this subject. A key of a call that began the erasure of another one must not pass for
 * an erasure of this one. @throws state-conflict
 */
export function requireSubject({ subject_mac }: Pick<ErasureRow, "subject_mac">, mac: Buffer): void {
  if (subject_mac === mac.toString("hex")) return;
  throw new OperatorError(
    "state-conflict",
    "The Idempotency-Key of this call began the erasure of another subject: use a new key.",
  );
}

const INSERT_ERASURE = sql(
  `insert into erasure (sequence, erasure_id, kind, subject_mac, began_at, actor, reason, keys, unreadable)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  ["int8", "uuid", "text", "bytea?", "timestamptz", "text", "text", "uuid[]", "int8"],
);

/** Records an erasure that begins, in the transaction that applies its entry of the journal. */
export async function insertErasure(
  executor: OwnerTransaction,
  entry: ErasureEntry,
  { actor, reason, unreadable }: ErasureRecord,
): Promise<void> {
  const subject = entry.subject === null ? null : Buffer.from(entry.subject, "hex");
  await query(executor, INSERT_ERASURE, [
    entry.sequence,
    entry.erasure_id,
    entry.kind,
    subject,
    entry.at,
    actor,
    reason,
    entry.kind === "hold" ? entry.holds : entry.keys,
    unreadable,
  ]);
}

/** The numbers of items that an erasure deleted, or left to a hold. */
export type ErasureCounts = Partial<
  Pick<ErasureRow, "events" | "idempotency_keys" | "tokens" | "actions" | "held" | "copies" | "features">
>;

const ADD_TO_ERASURE = sql(
  `update erasure set events = events + $2, idempotency_keys = idempotency_keys + $3, tokens = tokens + $4,
        actions = actions + $5, held = held + $6, copies = copies + $7, features = features + $8
      where sequence = $1`,
  ["int8", "int8", "int8", "int8", "int8", "int8", "int8", "int8"],
);

export async function addToErasure(executor: OwnerTransaction, sequence: number, counts: ErasureCounts): Promise<void> {
  const { events = 0, idempotency_keys = 0, tokens = 0, actions = 0, held = 0, copies = 0, features = 0 } = counts;
  await query(executor, ADD_TO_ERASURE, [sequence, events, idempotency_keys, tokens, actions, held, copies, features]);
}

export interface ErasureFilter {
  readonly subjectMacs?: readonly Buffer[];
  readonly sequence?: number;
  readonly erasureId?: string;
  readonly unfinished?: boolean;
  /** Whether to find only finished erasures that need a final receipt, because the last held copy was deleted. */
  readonly waitedForHold?: boolean;
}

const copiesOf = (condition: string): string =>
  `(select count(*) from held_event c where c.erased_by = e.sequence and ${condition})`;

/**
 * SQL for the ids of the secrets of an erasure, in their order: only those whose loss was accepted (`exists`), or only
 * the others (`not exists`).
 */
const secretIdsWhereLoss = (condition: "exists" | "not exists"): string =>
  `array(select id::text from unnest(e.keys) with ordinality key (id, place)
    where ${condition} (select 1 from lost_secret s where s.name in ('account/' || id, 'hold/' || id)) order by place)`;

const FIND_ERASURES = sql(
  `select sequence, erasure_id, kind, encode(subject_mac, 'hex') as subject_mac, ${instant("began_at")}, ${instant("finished_at")}, ${instant("completed_at")},
        actor, reason, events, idempotency_keys, tokens, actions, held, copies, unreadable, features,
        ${copiesOf("is_held(c.account, c.action_id, c.event_id)")} as still_held,
        ${copiesOf("not is_held(c.account, c.action_id, c.event_id)")} as released,
        ${secretIdsWhereLoss("not exists")} as destroyed_keys, ${secretIdsWhereLoss("exists")} as lost_keys
      from erasure e
      where ($1::bytea[] is null or subject_mac = any ($1)) and ($2::bigint is null or sequence = $2)
        and ($3::boolean is false or finished_at is null) and ($4::uuid is null or erasure_id = $4)
        and ($5::boolean is false or (finished_at is not null and held > 0 and completed_at is null
          and not exists (select 1 from held_event c where c.erased_by = e.sequence)))
      order by sequence desc`,
  ["bytea[]?", "int8?", "bool", "uuid?", "bool"],
  {
    sequence: "int8",
    erasure_id: "uuid",
    kind: narrowed<ErasureKind>("text"),
    subject_mac: "text?",
    began_at: "text",
    finished_at: "text?",
    completed_at: "text?",
    actor: "text",
    reason: "text",
    events: "int8",
    idempotency_keys: "int8",
    tokens: "int8",
    actions: "int8",
    held: "int8",
    copies: "int8",
    unreadable: "int8",
    features: "int8",
    still_held: "int8",
    released: "int8",
    destroyed_keys: "text[]",
    lost_keys: "text[]",
  },
);

/** Finds erasures, newest first. */
export async function findErasures(executor: Executor, filter: ErasureFilter = {}): Promise<readonly ErasureRow[]> {
  const { rows } = await query(executor, FIND_ERASURES, [
    filter.subjectMacs ?? null,
    filter.sequence ?? null,
    filter.unfinished ?? false,
    filter.erasureId ?? null,
    filter.waitedForHold ?? false,
  ]);
  return rows;
}

const FIND_ERASED_SECRETS = sql(
  `select case kind when 'hold' then 'hold/' else 'account/' end || unnest(keys) as name from erasure
    where (sequence > $1 and sequence <= $2) or ($3 and finished_at is null)`,
  ["int8", "int8", "bool"],
  { name: "text" },
);

/**
 * Finds the names of the secrets that recorded erasures destroy: secrets of the unfinished erasures, or secrets of the
 * erasures whose journal entry is later than `after`, up to `until`.
 */
export async function findErasedSecrets(
  executor: Executor,
  which: { readonly unfinished: true } | { readonly after: number; readonly until: number },
): Promise<readonly string[]> {
  const values = "unfinished" in which ? ([0, 0, true] as const) : ([which.after, which.until, false] as const);
  return (await query(executor, FIND_ERASED_SECRETS, values)).rows.map(({ name }) => name);
}

const HAS_UNFINISHED_ERASURES = sql(
  `select exists (select 1 from erasure e where finished_at is null or (held > 0 and completed_at is null
        and not exists (select 1 from held_event c where c.erased_by = e.sequence))) as unfinished`,
  [],
  { unfinished: "bool" },
);

/** Whether an erasure must be finished, or needs a final receipt because the last held copy was deleted. */
export async function hasUnfinishedErasures(executor: Executor): Promise<boolean> {
  const { rows } = await query(executor, HAS_UNFINISHED_ERASURES);
  return rows[0]?.unfinished ?? false;
}

export interface ErasureState {
  readonly erasures: number;
  readonly unfinished: number;
  /** Whether an erasure has been unfinished for longer than `limitSeconds`. */
  readonly stuck: boolean;
}

const ERASURE_STATE = sql(
  `select count(*) as erasures, count(*) filter (where finished_at is null) as unfinished,
        coalesce(bool_or(finished_at is null and began_at < transaction_time() - make_interval(secs => $1)), false) as stuck
      from erasure`,
  ["float8"],
  { erasures: "int8", unfinished: "int8", stuck: "bool" },
);

export async function readErasureState(executor: Executor, limitSeconds: number): Promise<ErasureState> {
  const { rows } = await query(executor, ERASURE_STATE, [limitSeconds]);
  return rows[0] ?? { erasures: 0, unfinished: 0, stuck: false };
}

const WAS_ERASED = sql("select 1 from erasure where subject_mac = $1 limit 1", ["bytea"]);

/** Whether an erasure of this subject is recorded. @param subjectMac the keyed MAC of the subject. */
export async function wasErased(executor: Executor, subjectMac: Buffer): Promise<boolean> {
  return ((await query(executor, WAS_ERASED, [subjectMac])).rowCount ?? 0) > 0;
}

const RECEIPT_OF = sql(
  "select coalesce(final_receipt, receipt) as receipt from erasure where sequence = $1",
  ["int8"],
  { receipt: "text?" },
);

/**
 * Finds the receipt of an erasure: the final receipt, if the last copy that a hold kept is deleted, and otherwise the
 * receipt that was signed when the erasure was finished.
 */
export async function receiptOf(executor: Executor, sequence: number): Promise<string | undefined> {
  return (await query(executor, RECEIPT_OF, [sequence])).rows[0]?.receipt ?? undefined;
}

/** Finds the erasures of subjects, newest first, with their receipts. @param since RFC 3339. */
export async function findErasuresWithReceipts(executor: Executor, subjectMacs: readonly Buffer[], since = "") {
  const erasures = (await findErasures(executor, { subjectMacs })).filter(({ began_at }) => began_at >= since);
  return Promise.all(
    erasures.map(async ({ sequence, erasure_id, kind, began_at, finished_at }) => {
      const receipt = (await receiptOf(executor, sequence)) ?? null;
      return { erasure_id, kind, began_at, finished_at, receipt };
    }),
  );
}

const FIND_ERASURE_RECEIPT = sql(
  `select coalesce(final_receipt, receipt) as receipt from erasure
    where erasure_id = $1 and receipt is not null`,
  ["uuid"],
  { receipt: "text" },
);

/** Finds the receipt that `receiptOf` finds, but by the id of the erasure. */
export async function findErasureReceipt(executor: Executor, erasureId: string): Promise<string | undefined> {
  return (await query(executor, FIND_ERASURE_RECEIPT, [erasureId])).rows[0]?.receipt;
}
