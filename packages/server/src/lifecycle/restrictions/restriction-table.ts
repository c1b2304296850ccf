/** Restrictions of processing and objections to it (GDPR, articles 18 and 21), in the database. */
import { randomUUID } from "node:crypto";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { releasingLocks } from "../../store/events/partition-slices.ts";
import { countUnrestricted, type EventSubject } from "../../store/events/search-events.ts";
import type { RestrictionArticle } from "../journal/journal.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { narrowed, query, sql } from "../../store/postgres/statement.ts";

export interface NewRestriction {
  readonly account: string;
  /** The keyed MAC of the account, from `restrictedAccountOf`. */
  readonly accountMac: Buffer;
  /** Code of the purpose that is restricted; `undefined` restricts all purposes. */
  readonly purpose: number | undefined;
  readonly article: RestrictionArticle;
  readonly reason: string;
  /** The person who approved the restriction; `undefined` only if a data request asked for it. */
  readonly approver: string | undefined;
  readonly requestId: string | undefined;
  readonly actor: string;
}

export interface PlacedRestriction {
  readonly restriction_id: string;
  /** Number of stored events that the restriction hides from analysis, and that were visible before. */
  readonly events: number;
}

const ACTIVE = "r.lifted_at is null and r.erased_by is null";

const FIND_SAME = sql(
  `select restriction_id from restriction r
    where account_mac = $1 and purpose is not distinct from $2 and article = $3 and ${ACTIVE}`,
  ["bytea", "int4?", "int4"],
  { restriction_id: "uuid" },
);

const INSERT_RESTRICTION = sql(
  `insert into restriction
      (restriction_id, account_mac, purpose, article, reason, approver, request_id, placed_at, placed_by)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  ["uuid", "bytea", "int4?", "int4", "text", "text?", "uuid?", "timestamptz", "text"],
);

/**
 * Restricts the stored events of an account and its later events.
 * @param at in ISO 8601. @throws state-conflict if the same restriction is active.
 */
export async function placeRestriction(
  executor: OwnerTransaction,
  restriction: NewRestriction,
  at: string,
): Promise<PlacedRestriction> {
  const { account, accountMac, purpose, article, reason, approver, requestId, actor } = restriction;
  const [same] = (await query(executor, FIND_SAME, [accountMac, purpose ?? null, article])).rows;
  if (same) throw new OperatorError("state-conflict", `The same restriction is active: ${same.restriction_id}.`);
  const placed = randomUUID();
  const newlyVisible = await runAndCountNewlyVisible(executor, subjectOf(account, purpose), async () => {
    const values = [accountMac, purpose ?? null, article, reason, approver ?? null, requestId ?? null] as const;
    await query(executor, INSERT_RESTRICTION, [placed, ...values, at, actor]);
    await applyRestrictions(executor, [placed], account);
  });
  return { restriction_id: placed, events: -newlyVisible };
}

const APPLY_RESTRICTIONS = sql(
  `select apply_restrictions(account_mac, $2)
    from (select distinct account_mac from restriction where restriction_id = any ($1::uuid[])) r`,
  ["uuid[]", "text?"],
);

/**
 * Updates the column `restricted` of the account keys after a change of restrictions, because reads check this column.
 * A transaction that creates a key of the account waits for the end of this one.
 * @param account the name of the account, if the caller knows it.
 */
export async function applyRestrictions(
  executor: OwnerTransaction,
  restrictionIds: readonly string[],
  account?: string,
): Promise<void> {
  await query(executor, APPLY_RESTRICTIONS, [restrictionIds, account ?? null]);
}

const subjectOf = (account: string, purpose: number | undefined): EventSubject =>
  purpose === undefined ? { kind: "account", account } : { kind: "purpose", account, purpose };

const FIND_RESTRICTED = sql(
  `select distinct account_mac from restriction r where account_mac = any ($1::bytea[]) and ${ACTIVE}`,
  ["bytea[]"],
  { account_mac: "bytea" },
);

/**
 * Finds the accounts, by their keyed MACs, of which a restriction is active, for all purposes or one.
 * @returns their MACs in hexadecimal.
 */
export async function findRestricted(executor: Executor, macs: readonly Buffer[]): Promise<ReadonlySet<string>> {
  const { rows } = await query(executor, FIND_RESTRICTED, [macs]);
  return new Set(rows.map(({ account_mac }) => account_mac.toString("hex")));
}

/** Runs `work`. @returns the increase in the number of the subject's events that may be analysed. */
async function runAndCountNewlyVisible(
  executor: OwnerTransaction,
  subject: EventSubject,
  work: () => Promise<void>,
): Promise<number> {
  const before = await countUnrestricted(releasingLocks(executor), subject);
  await work();
  return (await countUnrestricted(releasingLocks(executor), subject)) - before;
}

export interface Lift {
  /** The date on which the person was informed, such as `2027-01-31`. */
  readonly informedOn: string;
  readonly reason: string;
  readonly actor: string;
}

export interface LiftedRestriction {
  /** `undefined` if the account is erased or unknown. */
  readonly account: string | undefined;
  /** Number of events that may be analysed again. */
  readonly events: number;
}

const FIND_ACTIVE = sql(
  `select i.account, r.purpose, (r.placed_at at time zone 'UTC')::date::text as placed_on
    from restriction r left join account_identity i on i.account_mac = r.account_mac
    where r.restriction_id = $1 and ${ACTIVE}`,
  ["uuid"],
  { account: "text?", purpose: "int4?", placed_on: "text" },
);

const LIFT_RESTRICTION = sql(
  `update restriction r set informed_on = $2, lifted_at = $3, lifted_by = $4, lift_reason = $5
    where restriction_id = $1 and ${ACTIVE}`,
  ["uuid", "date", "timestamptz", "text", "text"],
);

/**
 * Lifts a restriction.
 * @param at in ISO 8601. @returns `undefined` if no active restriction has the id.
 * @throws state-conflict if the person was informed before the restriction was placed.
 */
export async function liftRestriction(
  executor: OwnerTransaction,
  restrictionId: string,
  { informedOn, reason, actor }: Lift,
  at: string,
): Promise<LiftedRestriction | undefined> {
  const [found] = (await query(executor, FIND_ACTIVE, [restrictionId])).rows;
  if (!found) return undefined;
  const { account, purpose, placed_on } = found;
  // guard(false): the person is informed of the end of this restriction
  if (informedOn < placed_on) {
    throw new OperatorError(
      "state-conflict",
      `The restriction was placed on ${placed_on}: inform the person that it will be lifted, and give that date.`,
    );
  }
  const subject = subjectOf(account ?? "", purpose ?? undefined);
  const events = await runAndCountNewlyVisible(executor, subject, async () => {
    await query(executor, LIFT_RESTRICTION, [restrictionId, informedOn, at, actor, reason]);
    await applyRestrictions(executor, [restrictionId]);
  });
  return { account: account ?? undefined, events };
}

const FIND_ENDING = sql(
  `select restriction_id from restriction r where account_mac = $1 and article = 18 and ${ACTIVE}
    order by restriction_id`,
  ["bytea"],
  { restriction_id: "uuid" },
);

/**
 * Finds the restrictions that the erasure of an account ends. An objection remains, because it also applies to later
 * events.
 * @param accountMac from `restrictedAccountOf`.
 */
export async function findEndingRestrictions(executor: Executor, accountMac: Buffer): Promise<readonly string[]> {
  const { rows } = await query(executor, FIND_ENDING, [accountMac]);
  return rows.map(({ restriction_id }) => restriction_id);
}

const END_RESTRICTIONS = sql(
  `update restriction r set erased_by = $2 where restriction_id = any ($1::uuid[]) and ${ACTIVE}`,
  ["uuid[]", "int8"],
);

/** Ends restrictions because their account is erased. @param sequence the sequence of the erasure's journal entry. */
export async function endRestrictions(
  executor: OwnerTransaction,
  restrictionIds: readonly string[],
  sequence: number,
): Promise<void> {
  await query(executor, END_RESTRICTIONS, [restrictionIds, sequence]);
  await applyRestrictions(executor, restrictionIds);
}

export interface RestrictionRow {
  readonly restriction_id: string;
  /** `null` if the account is erased, or unknown to the database. */
  readonly account: string | null;
  /** The code of a purpose; `null` means all purposes. */
  readonly purpose: number | null;
  readonly article: RestrictionArticle;
  readonly active: boolean;
  readonly reason: string;
  readonly approver: string | null;
  readonly request_id: string | null;
  readonly placed_at: string;
  readonly placed_by: string;
  readonly informed_on: string | null;
  readonly lifted_at: string | null;
  readonly lift_reason: string | null;
  /** Whether an erasure of the account ended the restriction. */
  readonly erased: boolean;
}

const LIST_RESTRICTIONS = sql(
  `select r.restriction_id, i.account, r.purpose, r.article, ${ACTIVE} as active, r.reason, r.approver, r.request_id,
      ${instant("placed_at")}, r.placed_by, r.informed_on::text, ${instant("lifted_at")}, r.lift_reason,
      r.erased_by is not null as erased
    from restriction r left join account_identity i on i.account_mac = r.account_mac
    where $1::bytea is null or r.account_mac = $1
    order by not (${ACTIVE}), r.placed_at desc, r.restriction_id`,
  ["bytea?"],
  {
    restriction_id: "uuid",
    account: "text?",
    purpose: "int4?",
    article: narrowed<RestrictionArticle>("int4"),
    active: "bool",
    reason: "text",
    approver: "text?",
    request_id: "uuid?",
    placed_at: "text",
    placed_by: "text",
    informed_on: "text?",
    lifted_at: "text?",
    lift_reason: "text?",
    erased: "bool",
  },
);

/**
 * Lists restrictions: active ones first, then newest first.
 * @param accountMac from `restrictedAccountOf`, to list the restrictions of one account.
 */
export async function listRestrictions(executor: Executor, accountMac?: Buffer): Promise<readonly RestrictionRow[]> {
  return (await query(executor, LIST_RESTRICTIONS, [accountMac ?? null])).rows;
}

export interface RestrictionState {
  readonly restrictions: number;
  /** Number of active restrictions by article 18 that were placed before the given time. */
  readonly long_active: number;
}

const RESTRICTION_STATE = sql(
  `select count(*) as restrictions, count(*) filter (where article = 18 and placed_at < $1) as long_active
    from restriction r where ${ACTIVE}`,
  ["timestamptz"],
  { restrictions: "int8", long_active: "int8" },
);

/** @param before a time in ISO 8601, for `long_active`. */
export async function readRestrictionState(executor: Executor, before: string): Promise<RestrictionState> {
  const { rows } = await query(executor, RESTRICTION_STATE, [before]);
  if (!rows[0]) throw new Error("the database gave no row");
  return rows[0];
}
