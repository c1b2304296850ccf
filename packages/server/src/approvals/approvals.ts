/**
 * Approvals: a second person allows one operation, with its parameters and its plan, once. Rules that a caller must not
 * get around are conditions of the statements.
 */
import { createHash, randomUUID } from "node:crypto";
import type { Role } from "@device-risk-signals/admin-api";
import { canonicalize } from "@device-risk-signals/contract";
import type { Clock } from "../ports.ts";
import type { Executor, Transaction } from "../postgres/executor.ts";
import { instant } from "../postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../postgres/keyset.ts";
import { narrowed, query, sql } from "../postgres/statement.ts";

/** How long an approval may be given after it was asked for, and used after it was given. */
const TO_APPROVE_MS = 24 * 3_600_000;
const TO_USE_MS = 3_600_000;
/** How long an approval of several uses continues after the first one. */
const IN_USE_MS = 24 * 3_600_000;

/** What an approval allows. */
export interface ApprovedOperation {
  /** The operation in audit entries, such as `erase.run`. */
  readonly operation: string;
  /** The parameters; the approval is for exactly these. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What it would do, with counts, as the approver sees it. */
  readonly plan: Readonly<Record<string, unknown>>;
  /** Number of events that it touches now. */
  readonly events: number;
  /** The approval is for exactly so many events; absent: for a tenth more than `events`. */
  readonly isExact?: true;
  /** Roles that must approve; each by a person of that role. */
  readonly needed: readonly Role[];
  /** One of the roles is enough. */
  readonly anyRole?: true;
}

export type ApprovalState = "waiting" | "approved" | "denied" | "used" | "expired";

export interface ApprovalRow {
  readonly approval_id: string;
  readonly operation: string;
  readonly parameters: unknown;
  readonly plan: unknown;
  readonly max_events: number;
  readonly needed_roles: string[];
  readonly any_role: boolean;
  readonly reason: string;
  readonly requested_by: string;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly approved_by: string[];
  readonly denied_by: string | null;
  readonly state: ApprovalState;
}

const APPROVERS = `array(select d.person from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'approved' order by d.decided_at)`;
const APPROVED_AT = `(select max(d.decided_at) from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'approved')`;
/** An approval is complete when each needed role has approved, or one of them where one is enough. */
const IS_COMPLETE = `case when a.any_role then ${APPROVED_AT} is not null
    else not exists (select from unnest(a.needed_roles) as needed (role) where not exists (
    select from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'approved' and d.role = needed.role)) end`;
const DENIED_BY = `(select d.person from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'denied' limit 1)`;
/** @param now the placeholder of the present time. */
const stateAt = (now: string): string => `case
    when a.used_at is not null then 'used'
    when ${DENIED_BY} is not null then 'denied'
    when ${IS_COMPLETE} then case when ${APPROVED_AT} + interval '${TO_USE_MS} milliseconds' > ${now} then 'approved' else 'expired' end
    when a.expires_at > ${now} then 'waiting'
    else 'expired' end`;

const columnsAt = (
  now: string,
): string => `a.approval_id, a.operation, a.parameters, a.plan, a.max_events, a.needed_roles,
    a.any_role, a.reason, a.requested_by, ${instant("a.requested_at", "requested_at")}, ${instant("a.expires_at", "expires_at")},
    ${APPROVERS} as approved_by, ${DENIED_BY} as denied_by, ${stateAt(now)} as state`;
const TYPES = {
  approval_id: "uuid",
  operation: "text",
  parameters: "jsonb",
  plan: "jsonb",
  max_events: "int8",
  needed_roles: "text[]",
  any_role: "bool",
  reason: "text",
  requested_by: "text",
  requested_at: "text",
  expires_at: "text",
  approved_by: "text[]",
  denied_by: "text?",
  state: narrowed<ApprovalState>("text"),
} as const;

/** SHA-256 of the canonical form (RFC 8785) of operation, parameters and roles. */
export const digestOf = ({ operation, parameters, needed }: ApprovedOperation): Buffer =>
  createHash("sha256")
    .update(canonicalize([operation, parameters, needed]))
    .digest();

/** Events may arrive until the operation begins: an approval is for a tenth more than there are, at least 100 more. */
const boundOf = (events: number): number => events + Math.max(100, Math.ceil(events / 10));

const REQUEST = sql(
  `insert into approval (approval_id, operation, parameters, plan, max_events, digest, needed_roles, any_role, reason,
      requested_by, requested_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
  ["uuid", "text", "jsonb", "jsonb", "int8", "bytea", "text[]", "bool", "text", "text", "timestamptz", "timestamptz"],
);
const FIND_WAITING = sql(
  `select a.approval_id from approval a
    where a.requested_by = $1 and a.digest = $2 and $4 <= a.max_events
      and ${stateAt("$3::timestamptz")} = 'waiting' limit 1`,
  ["text", "bytea", "timestamptz", "int8"],
  { approval_id: "uuid" },
);

/** Asks for an approval, once: the same request that waits already is found again. @returns its id. */
export async function requestApproval(
  executor: Executor,
  clock: Clock,
  wanted: ApprovedOperation & { readonly person: string; readonly reason: string },
): Promise<string> {
  const now = clock.now();
  const at = new Date(now).toISOString();
  const digest = digestOf(wanted);
  const { rows } = await query(executor, FIND_WAITING, [wanted.person, digest, at, wanted.events]);
  if (rows[0]) return rows[0].approval_id;
  const approvalId = randomUUID();
  await query(executor, REQUEST, [
    approvalId,
    wanted.operation,
    JSON.stringify(wanted.parameters),
    JSON.stringify(wanted.plan),
    wanted.isExact ? wanted.events : boundOf(wanted.events),
    digest,
    [...wanted.needed],
    wanted.anyRole ?? false,
    wanted.reason,
    wanted.person,
    at,
    new Date(now + TO_APPROVE_MS).toISOString(),
  ]);
  return approvalId;
}

const USE = sql(
  `update approval a set used_at = $3
    where a.requested_by = $1
      -- guard(true): changed parameters need a new approval
      -- fails: packages/server/src/approvals/approvals.test.ts › changed parameters
      and a.digest = $2
      -- guard(true): an approval is for so many events, and no more
      -- fails: packages/server/src/approvals/approvals.test.ts › more events
      and $4 <= a.max_events
      -- guard(true): an approval is used once, within an hour
      -- fails: packages/server/src/approvals/approvals.test.ts › used once
      and ${stateAt("$3::timestamptz")} = 'approved'
      -- guard(true): of two approvals of one operation, one remains
      -- fails: packages/server/src/approvals/approvals.test.ts › the one that it names
      and a.approval_id = $5`,
  ["text", "bytea", "timestamptz", "int8", "uuid"],
);
const FIND_USABLE = sql(
  `select a.approval_id from approval a
    where a.requested_by = $1 and a.digest = $2 and $4 <= a.max_events
      and ${stateAt("$3::timestamptz")} = 'approved' limit 1`,
  ["text", "bytea", "timestamptz", "int8"],
  { approval_id: "uuid" },
);

/** An approval that the operation could use now. @returns its id. */
export async function findUsableApproval(
  executor: Executor,
  clock: Clock,
  person: string,
  operation: ApprovedOperation,
): Promise<string | undefined> {
  const now = new Date(clock.now()).toISOString();
  const { rows } = await query(executor, FIND_USABLE, [person, digestOf(operation), now, operation.events]);
  return rows[0]?.approval_id;
}

/**
 * Uses an approval, in the transaction in which the operation begins: two uses at once exclude each other, and an
 * operation that does not begin uses none.
 * @returns whether the person could use it for this operation.
 */
export async function useApproval(
  transaction: Transaction,
  clock: Clock,
  person: string,
  { approvalId, ...operation }: ApprovedOperation & { readonly approvalId: string },
): Promise<boolean> {
  const now = new Date(clock.now()).toISOString();
  const values = [person, digestOf(operation), now, operation.events, approvalId] as const;
  return (await query(transaction, USE, values)).rowCount === 1;
}

const FIND_IN_USE = sql(
  `select approval_id from approval
    -- guard(true): an approval is for the person who asked for it
    -- fails: packages/server/src/approvals/approvals.test.ts › continues for a day
    where requested_by = $1
      -- guard(true): an approval of a case opens nothing in another case
      -- fails: packages/server/src/admin/cases.test.ts › in that case alone
      and digest = $2
      -- guard(true): an approval of several uses ends
      -- fails: packages/server/src/approvals/approvals.test.ts › continues for a day
      and used_at > $3::timestamptz - interval '${IN_USE_MS} milliseconds'
    order by used_at`,
  ["text", "bytea", "timestamptz"],
  { approval_id: "uuid" },
);

/** Approvals of the operation that were used first in the last 24 hours, for one that an approval allows several times. */
export async function findApprovalsInUse(
  executor: Executor,
  clock: Clock,
  person: string,
  operation: ApprovedOperation,
): Promise<readonly string[]> {
  const now = new Date(clock.now()).toISOString();
  return (await query(executor, FIND_IN_USE, [person, digestOf(operation), now])).rows.map((row) => row.approval_id);
}

export interface Decision {
  readonly approvalId: string;
  readonly person: string;
  readonly roles: readonly Role[];
  readonly decision: "approved" | "denied";
}

const DECIDE = sql(
  `insert into approval_decision (approval_id, person, role, decision, decided_at)
    select a.approval_id, $2, needed.role, $4, $5
      from approval a, unnest(a.needed_roles) as needed (role)
      where a.approval_id = $1 and needed.role = any ($3::text[])
        -- guard(true): a person never approves what they asked for
        -- fails: packages/server/src/approvals/approvals.test.ts › their own request
        and a.requested_by <> $2
        -- guard(true): a decided or expired request is not decided again
        -- fails: packages/server/src/approvals/approvals.test.ts › is decided once
        and ${stateAt("$5::timestamptz")} = 'waiting'
        and not exists (select from approval_decision d where d.approval_id = a.approval_id and d.role = needed.role)
      order by needed.role limit 1
    -- One person is one pair of eyes: a person decides once about an approval.
    on conflict do nothing returning role`,
  ["uuid", "text", "text[]", "text", "timestamptz"],
  { role: "text" },
);

/**
 * Records the decision of a person, for one of the needed roles that they have and no other person has decided.
 * @returns whether it counts.
 */
export async function decideApproval(executor: Executor, clock: Clock, decision: Decision): Promise<boolean> {
  const { approvalId, person, roles, decision: made } = decision;
  const at = new Date(clock.now()).toISOString();
  const { rowCount } = await query(executor, DECIDE, [approvalId, person, [...roles], made, at]);
  return rowCount === 1;
}

const LIST = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a
    where ${isAfter("a.requested_at", "$2", { "a.approval_id": "$3::uuid" })}
    order by a.requested_at desc, a.approval_id limit $4::int4`,
  ["timestamptz", "timestamptz?", "uuid?", "int4"],
  TYPES,
);
const FIND = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a where a.approval_id = $2`,
  ["timestamptz", "uuid"],
  TYPES,
);

/** Newest first. */
export async function listApprovals(
  executor: Executor,
  clock: Clock,
  page: KeysetPage = FIRST_PAGE,
): Promise<readonly ApprovalRow[]> {
  const [at = null, id = null] = positionValues(page, 1);
  return (await query(executor, LIST, [new Date(clock.now()).toISOString(), at, id, page.limit])).rows;
}

export async function findApproval(executor: Executor, clock: Clock, id: string): Promise<ApprovalRow | undefined> {
  return (await query(executor, FIND, [new Date(clock.now()).toISOString(), id])).rows[0];
}
