import { randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import { OperatorError } from "../../errors/operator-error.ts";
import type { Executor } from "../../postgres/database.ts";
import { asUnavailable } from "../../postgres/errors.ts";
import { receivedAtOf } from "../../events/read-events.ts";
import { releasingLocks } from "../../events/partition-slices.ts";
import { conditionOf, countStored, countLive, type EventSubject } from "../../events/search-events.ts";
import { instant } from "../../postgres/instant.ts";

/** What a hold is about. */
export interface HoldSubject {
  readonly of: "account" | "action_id" | "event_id";
  readonly value: string;
}

export interface NewHold {
  readonly subject: HoldSubject;
  readonly reason: string;
  readonly approver: string;
  /** Of the form `2027-01-31`. */
  readonly reviewOn: string;
  readonly actor: string;
}

export interface PlacedHold {
  readonly hold_id: string;
  /** Events that it covers now. */
  readonly events: number;
}

/**
 * Places a hold, in the owner's transaction: what is about to be let go of waits for it, or it for that. It covers what
 * is still there, be it past its period, and what comes later.
 *
 * @returns `undefined` where nothing is known of its subject.
 * @throws erasure-pending
 */
export async function placeHold(executor: Executor, hold: NewHold): Promise<PlacedHold | undefined> {
  // guard(drop): placing a hold waits for deletions
  // fails: e2e/holds.test.ts › placing one waits
  await executor.query("select lock_holds()");
  const { of, value } = hold.subject;
  // guard(drop): no hold brings back what is erased
  // fails: e2e/erasure.test.ts › waits for its end
  await requireNoneErased(executor, hold.subject);
  const events = await countStored(releasingLocks(executor), eventsOf(hold.subject));
  if (events === 0 && !(of === "account" && (await isKnown(executor, value)))) return undefined;
  const holdId = randomUUID();
  const receivedAt = of === "event_id" ? receivedAtOf(value).toISOString() : null;
  await executor.query(
    `insert into legal_hold (hold_id, ${of}, event_received_at, reason, approver, review_on, placed_at, placed_by)
      values ($1, $2, $3, $4, $5, $6, clock_timestamp(), $7)`,
    [holdId, value, receivedAt, hold.reason, hold.approver, hold.reviewOn, hold.actor],
  );
  return { hold_id: holdId, events };
}

async function requireNoneErased(executor: Executor, subject: HoldSubject): Promise<void> {
  const { where, values } = conditionOf(eventsOf(subject));
  const text = `select from held_event
    where ${where} and erased_by is not null and not is_held(account, action_id, event_id) limit 1`;
  if ((await executor.query(text, values)).rowCount === 0) return;
  throw new OperatorError(
    "erasure-pending",
    "The hold that kept it has ended, and it is erased but for its row: drs retention run takes that. A hold may be placed then",
  );
}

function eventsOf({ of, value }: HoldSubject): EventSubject {
  if (of === "account") return { kind: "account", account: value };
  return of === "action_id" ? { kind: "action", actionId: value } : { kind: "event", eventId: value };
}

/** An account whose events are all to come is known by its tokens, actions or keys. */
async function isKnown(executor: Executor, account: string): Promise<boolean> {
  const tables = ["session_token", "action", "idempotency_key"];
  const known = tables.map((table) => `exists (select from ${table} where account = $1)`).join(" or ");
  return (await executor.query<{ known: boolean }>(`select ${known} as known`, [account])).rows[0]?.known ?? false;
}

export interface HoldRow {
  readonly hold_id: string;
  readonly account: string | null;
  readonly action_id: string | null;
  readonly event_id: string | null;
  /** Replayed from the erasure journal, and its account or action was not found yet. */
  readonly is_unresolved: boolean;
  readonly reason: string;
  readonly approver: string;
  readonly review_on: string;
  readonly review_overdue: boolean;
  readonly placed_at: string;
  readonly placed_by: string;
  readonly lifted_at: string | null;
  readonly lift_reason: string | null;
  /** Events that were copied, because they would be gone without it. */
  readonly copies: number;
}

/** Puts a new secret in the place of each hold's lost one, in the owner's transaction. */
export async function addHoldSecrets(
  executor: Executor,
  holds: readonly string[],
  secrets: readonly string[],
): Promise<void> {
  await executor.query(
    `update legal_hold h set later_secrets = later_secrets || made.secret
      from unnest($1::uuid[], $2::uuid[]) made (id, secret) where h.hold_id = made.id`,
    [holds, secrets],
  );
}

/** The ids of all secrets that a hold has had, the one in use last. @throws Unavailable */
export async function findHoldSecrets(executor: Executor, holdId: string): Promise<readonly string[]> {
  const text = "select (hold_id || later_secrets)::text[] as secrets from legal_hold where hold_id = $1";
  const { rows } = await executor.query<{ secrets: string[] }>(text, [holdId]).catch((error: unknown) => {
    throw asUnavailable(error);
  });
  return rows[0]?.secrets ?? [holdId];
}

/** Holds that stand first, then those that were lifted; newest first. */
export async function listHolds(executor: Executor): Promise<readonly HoldRow[]> {
  const text = `select hold_id, account, action_id, event_id,
      num_nonnulls(account, action_id, event_id) = 0 as is_unresolved, reason, approver, review_on::text,
      ${OVERDUE} as review_overdue, ${instant("placed_at")}, placed_by, ${instant("lifted_at")}, lift_reason,
      (select count(*) from held_event c where c.hold_id = h.hold_id) as copies
    from legal_hold h order by h.lifted_at is not null, h.placed_at desc`;
  return (await executor.query<HoldRow>(text)).rows;
}

const OVERDUE = "lifted_at is null and review_on <= current_date";

export interface HoldReview {
  /** Of the form `2027-01-31`. */
  readonly reviewOn: string;
  readonly approver: string;
}

/** @returns whether there is such a hold that is active. */
export async function reviewHold(
  executor: Executor,
  holdId: string,
  { reviewOn, approver }: HoldReview,
): Promise<boolean> {
  const { rowCount } = await executor.query(
    "update legal_hold set review_on = $2, approver = $3 where hold_id = $1 and lifted_at is null",
    [holdId, reviewOn, approver],
  );
  return rowCount === 1;
}

/**
 * Lifts a hold, in the owner's transaction.
 * @returns how many events nobody reads any more: those that only it kept. `undefined` where no such hold stands.
 */
export async function liftHold(
  executor: Executor,
  holdId: string,
  actor: string,
  reason: string,
): Promise<number | undefined> {
  await executor.query("select lock_holds()");
  const subject = await subjectOf(executor, holdId);
  const countAll = async (): Promise<number> => (subject ? countLive(releasingLocks(executor), eventsOf(subject)) : 0);
  const before = await countAll();
  const { rowCount } = await executor.query(
    `update legal_hold set lifted_at = clock_timestamp(), lifted_by = $2, lift_reason = $3
      where hold_id = $1 and lifted_at is null`,
    [holdId, actor, reason],
  );
  return rowCount === 1 ? before - (await countAll()) : undefined;
}

/** What a hold is about, lifted or not; `undefined` where a replay brought it back and its subject was not found yet. */
async function subjectOf(executor: Executor, holdId: string): Promise<HoldSubject | undefined> {
  const text = `select case when account is not null then 'account' when action_id is not null then 'action_id' else 'event_id' end as of,
      coalesce(account, action_id, event_id::text) as value from legal_hold
    where hold_id = $1 and num_nonnulls(account, action_id, event_id) = 1`;
  return (await executor.query<HoldSubject & QueryResultRow>(text, [holdId])).rows[0];
}

export interface HoldState {
  readonly holds: number;
  readonly reviews_overdue: number;
  /** Active holds that a replay placed and whose account or action was not found yet. */
  readonly unresolved: number;
  /** Copies that are there because of a hold. */
  readonly copies: number;
}

export async function holdState(executor: Executor): Promise<HoldState> {
  const { rows } = await executor.query<HoldState>(
    `select (select count(*) from legal_hold where lifted_at is null) as holds,
      (select count(*) from legal_hold where ${OVERDUE}) as reviews_overdue,
      (select count(*) from legal_hold
        where lifted_at is null and num_nonnulls(account, action_id, event_id) = 0) as unresolved,
      (select count(*) from held_event) as copies`,
  );
  if (!rows[0]) throw new Error("the database gave no row");
  return rows[0];
}
