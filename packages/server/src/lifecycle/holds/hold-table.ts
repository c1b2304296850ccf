import { randomUUID } from "node:crypto";
import { asUnavailable } from "../../store/postgres/errors.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { receivedAtOf } from "../../store/events/read-events.ts";
import { releasingLocks } from "../../store/events/partition-slices.ts";
import {
  countLive,
  countStored,
  countUnrestricted,
  type EventSubject,
  forSubjects,
  subjectValues,
} from "../../store/events/search-events.ts";
import { instant } from "../../store/postgres/instant.ts";
import { lockHolds } from "../../store/postgres/advisory-locks.ts";
import { narrowed, query, queryRow, sql, type Statement } from "../../store/postgres/statement.ts";

/** The subject of a hold. */
export interface HoldSubject {
  readonly of: "account" | "action_id" | "event_id";
  readonly value: string;
}

export interface NewHold {
  readonly subject: HoldSubject;
  readonly reason: string;
  readonly approver: string;
  /** The date of the next review, such as `2027-01-31`. */
  readonly reviewOn: string;
  readonly actor: string;
  /** Whether the person who places the hold may learn of restricted events. */
  readonly includeRestricted: boolean;
}

export interface PlacedHold {
  readonly hold_id: string;
  /** The result of `countCovered`. */
  readonly events: number;
}

const insertHold = (
  column: HoldSubject["of"],
  type: "text" | "uuid",
): Statement<readonly [string, string, string | null, string, string, string, string], unknown> =>
  sql(
    `insert into legal_hold (hold_id, ${column}, event_received_at, reason, approver, review_on, placed_at, placed_by)
      values ($1, $2, $3, $4, $5, $6, wall_clock_time(), $7)`,
    ["uuid", type, "timestamptz?", "text", "text", "date", "text"],
  );
const INSERT_HOLD = {
  account: insertHold("account", "text"),
  action_id: insertHold("action_id", "text"),
  event_id: insertHold("event_id", "uuid"),
};

/**
 * Places a hold. The transaction waits for running deletions of what the hold covers, and later deletions wait for the
 * transaction. The hold covers everything that still exists, including expired events, and everything that comes later.
 *
 * @returns `undefined` if the subject of the hold is unknown.
 * @throws erasure-pending
 */
export async function placeHold(executor: OwnerTransaction, hold: NewHold): Promise<PlacedHold | undefined> {
  // guard(drop): placing a hold waits for deletions
  await lockHolds(executor);
  const { of, value } = hold.subject;
  const events = await countCovered(executor, hold);
  if (events === undefined) return undefined;
  // guard(drop): no hold keeps a copy of an erased event after the hold of the copy has ended
  await requireNoneErased(executor, hold.subject);
  const holdId = randomUUID();
  const receivedAt = of === "event_id" ? receivedAtOf(value).toISOString() : null;
  await query(executor, INSERT_HOLD[of], [
    holdId,
    value,
    receivedAt,
    hold.reason,
    hold.approver,
    hold.reviewOn,
    hold.actor,
  ]);
  return { hold_id: holdId, events };
}

/**
 * Counts the events that a hold covers now: all events that exist, or only events that may be analysed.
 * @returns `undefined` if the subject is unknown. A subject of which only restricted events exist is unknown to a
 * person who may not learn of them, but an account is known by its tokens, actions and idempotency keys, too.
 */
export async function countCovered(
  executor: OwnerTransaction,
  { subject, includeRestricted }: Pick<NewHold, "subject" | "includeRestricted">,
): Promise<number | undefined> {
  // guard(true): a proposal of a hold does not say that an event is restricted or erased
  const countEvents = includeRestricted ? countStored : countUnrestricted;
  const events = await countEvents(releasingLocks(executor), toEventSubject(subject));
  const isFound = events > 0 || (subject.of === "account" && (await isKnown(executor, subject.value)));
  return isFound ? events : undefined;
}

const FIND_ERASED_COPY = forSubjects((where, parameters) =>
  sql(
    `select 1 from held_event
    where ${where} and erased_by is not null and not is_held(account, action_id, event_id) limit 1`,
    parameters,
  ),
);

async function requireNoneErased(executor: OwnerTransaction, held: HoldSubject): Promise<void> {
  const subject = toEventSubject(held);
  if ((await query(executor, FIND_ERASED_COPY[subject.kind], subjectValues(subject))).rowCount === 0) return;
  throw new OperatorError(
    "erasure-pending",
    "The hold has ended and the event is erased; only its copy is left. Run drs retention run, then place the hold.",
  );
}

function toEventSubject({ of, value }: HoldSubject): EventSubject {
  if (of === "account") return { kind: "account", account: value };
  return of === "action_id" ? { kind: "action", actionId: value } : { kind: "event", eventId: value };
}

const NAMING_ACCOUNTS = ["session_token", "action", "idempotency_key"];
const IS_KNOWN = sql(
  `select ${NAMING_ACCOUNTS.map((table) => `exists (select 1 from ${table} where account = $1)`).join(" or ")} as known`,
  ["text"],
  { known: "bool" },
);

/** Whether a table names the account. An account without events may still have tokens, actions or idempotency keys. */
async function isKnown(executor: Executor, account: string): Promise<boolean> {
  return (await query(executor, IS_KNOWN, [account])).rows[0]?.known ?? false;
}

export interface HoldRow {
  readonly hold_id: string;
  readonly account: string | null;
  readonly action_id: string | null;
  readonly event_id: string | null;
  /** Whether the hold was replayed from the erasure journal and its account or action has not been found yet. */
  readonly is_unresolved: boolean;
  readonly reason: string;
  readonly approver: string;
  readonly review_on: string;
  readonly review_overdue: boolean;
  readonly placed_at: string;
  readonly placed_by: string;
  readonly lifted_at: string | null;
  readonly lift_reason: string | null;
  /** Number of events of which the hold keeps a copy, because a pass or an erasure deleted them. */
  readonly copies: number;
}

/** SQL for the id of the current secret of a row of `legal_hold`. */
export const HOLD_SECRET = "coalesce(later_secrets[cardinality(later_secrets)], hold_id)";

const ADD_HOLD_SECRETS = sql(
  `update legal_hold h set later_secrets = later_secrets || made.secret
      from unnest($1::uuid[], $2::uuid[]) made (id, secret) where h.hold_id = made.id`,
  ["uuid[]", "uuid[]"],
);

/**
 * Adds the id of a new secret to each hold. The new secret is used from then on; the ids of earlier secrets stay.
 * @param secrets ids of the new secrets, in the order of `holds`.
 */
export async function addHoldSecrets(
  executor: OwnerTransaction,
  holds: readonly string[],
  secrets: readonly string[],
): Promise<void> {
  await query(executor, ADD_HOLD_SECRETS, [holds, secrets]);
}

const FIND_HOLD_SECRETS = sql(
  "select (hold_id || later_secrets)::text[] as secrets from legal_hold where hold_id = $1",
  ["uuid"],
  { secrets: "text[]" },
);

/** The ids of all secrets that a hold has had, with the current one last. @throws Unavailable */
export async function findHoldSecrets(executor: Executor, holdId: string): Promise<readonly string[]> {
  const { rows } = await query(executor, FIND_HOLD_SECRETS, [holdId]).catch((error: unknown) => {
    throw asUnavailable(error);
  });
  return rows[0]?.secrets ?? [holdId];
}

const OVERDUE = "lifted_at is null and review_on <= transaction_time()::date";

const LIST_HOLDS = sql(
  `select hold_id, account, action_id, event_id,
      num_nonnulls(account, action_id, event_id) = 0 as is_unresolved, reason, approver, review_on::text,
      ${OVERDUE} as review_overdue, ${instant("placed_at")}, placed_by, ${instant("lifted_at")}, lift_reason,
      (select count(*) from held_event c where c.hold_id = h.hold_id) as copies
    from legal_hold h order by h.lifted_at is not null, h.placed_at desc`,
  [],
  {
    hold_id: "uuid",
    account: "text?",
    action_id: "text?",
    event_id: "uuid?",
    is_unresolved: "bool",
    reason: "text",
    approver: "text",
    review_on: "text",
    review_overdue: "bool",
    placed_at: "text",
    placed_by: "text",
    lifted_at: "text?",
    lift_reason: "text?",
    copies: "int8",
  },
);

/** Lists holds: active ones first, then newest first. */
export async function listHolds(executor: Executor): Promise<readonly HoldRow[]> {
  return (await query(executor, LIST_HOLDS)).rows;
}

export interface HoldReview {
  /** The date of the next review, such as `2027-01-31`. */
  readonly reviewOn: string;
  readonly approver: string;
}

const REVIEW_HOLD = sql(
  "update legal_hold set review_on = $2, approver = $3 where hold_id = $1 and lifted_at is null",
  ["uuid", "date", "text"],
);

/** @returns `false` if no active hold has the id. */
export async function reviewHold(
  executor: OwnerTransaction,
  holdId: string,
  { reviewOn, approver }: HoldReview,
): Promise<boolean> {
  const { rowCount } = await query(executor, REVIEW_HOLD, [holdId, reviewOn, approver]);
  return rowCount === 1;
}

const LIFT_HOLD = sql(
  `update legal_hold set lifted_at = (select wall_clock_time()), lifted_by = $2, lift_reason = $3
      where hold_id = $1 and lifted_at is null`,
  ["uuid", "text", "text"],
);

/**
 * Lifts a hold.
 * @returns the number of events that become unreadable because only this hold kept them; `undefined` if no active hold
 * has the id.
 */
export async function liftHold(
  executor: OwnerTransaction,
  holdId: string,
  actor: string,
  reason: string,
): Promise<number | undefined> {
  await lockHolds(executor);
  const subject = await subjectOf(executor, holdId);
  const countAll = async (): Promise<number> =>
    subject ? countLive(releasingLocks(executor), toEventSubject(subject)) : 0;
  const before = await countAll();
  const { rowCount } = await query(executor, LIFT_HOLD, [holdId, actor, reason]);
  return rowCount === 1 ? before - (await countAll()) : undefined;
}

const SUBJECT_OF = sql(
  `select case when account is not null then 'account' when action_id is not null then 'action_id' else 'event_id' end as of,
      coalesce(account, action_id, event_id::text) as value from legal_hold
    where hold_id = $1 and num_nonnulls(account, action_id, event_id) = 1`,
  ["uuid"],
  { of: narrowed<"account" | "action_id" | "event_id">("text"), value: "text" },
);

/**
 * Finds the subject of a hold, lifted or not; `undefined` if a replay placed the hold and its subject has not been
 * found yet.
 */
async function subjectOf(executor: Executor, holdId: string): Promise<HoldSubject | undefined> {
  return (await query(executor, SUBJECT_OF, [holdId])).rows[0];
}

export interface HoldState {
  readonly holds: number;
  readonly reviews_overdue: number;
  /** Number of active holds that a replay placed, and whose account or action has not been found yet. */
  readonly unresolved: number;
  /** Number of held copies, including released ones. */
  readonly copies: number;
}

const HOLD_STATE = sql(
  `select (select count(*) from legal_hold where lifted_at is null) as holds,
      (select count(*) from legal_hold where ${OVERDUE}) as reviews_overdue,
      (select count(*) from legal_hold
        where lifted_at is null and num_nonnulls(account, action_id, event_id) = 0) as unresolved,
      (select count(*) from held_event) as copies`,
  [],
  { holds: "int8", reviews_overdue: "int8", unresolved: "int8", copies: "int8" },
);

export async function readHoldState(executor: Executor): Promise<HoldState> {
  return queryRow(executor, HOLD_STATE);
}
