/** Approvals and decisions as rows. The statements themselves contain the rules that no caller may bypass. */
import { findNumbered, nextNumber, type NumberedIds, type NumberedSearch } from "../../store/crypto/numbered-ids.ts";
import { isIdFree } from "../../store/postgres/advisory-locks.ts";
import type { Executor, Transaction } from "../../store/postgres/executor.ts";
import { instant, instantOf } from "../../store/postgres/instant.ts";
import { isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { narrowed, query, type RowOf, sql } from "../../store/postgres/statement.ts";
import type { ApprovalDecision, ApprovalRequest } from "./approval-signer.ts";

/** The time within which an approval must be used after it was given. */
const TO_USE_MS = 3_600_000;
/** The time for which an approval of several uses is valid after its first use. */
const IN_USE_MS = 24 * 3_600_000;
/** Maximum number of rows that a statement reads, because a login of the database can insert rows without limit. */
export const PAGE = 100;
/**
 * Maximum number of bytes of the parameters and the plan of an approval as JSON. The constraint of the table allows
 * 1.5 times as many.
 */
export const MAX_JSON_BYTES = 131_072;
/** No approval has this id: a constraint refuses it. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** The state of an approval by its columns, which a login of the database can change. */
export type StoredState = "waiting" | "approved" | "denied" | "used" | "expired";

const APPROVED_AT = `(select max(d.decided_at) from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'approved')`;
/** A request is complete when each needed role has approved it, or one of the roles if one is enough. */
const IS_COMPLETE = `case when a.any_role then ${APPROVED_AT} is not null
    else not exists (select 1 from unnest(a.needed_roles) as needed (role) where not exists (
    select 1 from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'approved' and d.role = needed.role)) end`;
const DENIED_BY = `(select d.person from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'denied' limit 1)`;
/** @param now the placeholder of the current time. */
const stateAt = (now: string): string => `case
    when a.used_at is not null then 'used'
    when ${DENIED_BY} is not null then 'denied'
    when ${IS_COMPLETE} then case when ${now} - ${APPROVED_AT} < interval '${TO_USE_MS} milliseconds' then 'approved' else 'expired' end
    when a.expires_at > ${now} then 'waiting'
    else 'expired' end`;

/** @param person the placeholder of the person who obtained the admin token; with `null` the condition is true. */
const isUndecidedBy = (person: string): string =>
  `not exists (select 1 from approval_decision d where d.approval_id = a.approval_id and d.person = ${person})`;

const DECISIONS = `(select coalesce(jsonb_agg(jsonb_build_object('person', d.person, 'role', d.role,
      'decision', d.decision, 'decided_at', ${instantOf("d.decided_at")}, 'mac', encode(d.mac, 'hex')) order by d.decided_at), '[]')
    from approval_decision d where d.approval_id = a.approval_id)`;
const columnsAt = (
  now: string,
): string => `a.approval_id, a.operation, a.parameters, a.plan, a.max_events, a.digest, a.needed_roles,
    a.any_role, a.reason, a.requested_by, a.obtained_by, ${instant("a.requested_at", "requested_at")}, ${instant("a.expires_at", "expires_at")},
    a.mac, ${DECISIONS} as decisions, ${stateAt(now)} as state`;
const TYPES = {
  approval_id: "uuid",
  operation: "text",
  parameters: "jsonb",
  plan: "jsonb",
  max_events: "int8",
  digest: "bytea",
  needed_roles: "text[]",
  any_role: "bool",
  reason: "text",
  requested_by: "text",
  obtained_by: "text?",
  requested_at: "text",
  expires_at: "text",
  mac: "bytea",
  decisions: narrowed<(ApprovalDecision & { readonly mac: string })[]>("jsonb"),
  state: narrowed<StoredState>("text"),
} as const;
/** An approval with its decisions and the MACs. The caller verifies them. */
export type SignedRow = RowOf<typeof TYPES>;
const REQUEST = sql(
  `insert into approval (approval_id, operation, parameters, plan, max_events, digest, needed_roles, any_role, reason,
      requested_by, requested_at, expires_at, mac, obtained_by)
    select $1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
      where ${isIdFree("$1")} on conflict (approval_id) do nothing`,
  [
    "uuid",
    "text",
    "jsonb",
    "jsonb",
    "int8",
    "bytea",
    "text[]",
    "bool",
    "text",
    "text",
    "timestamptz",
    "timestamptz",
    "bytea",
    "text?",
  ],
);
/**
 * @param mac of the request.
 * @returns `false` if another transaction has inserted a row with this id, or is inserting one.
 */
export async function insertApproval(executor: Executor, request: ApprovalRequest, mac: Buffer): Promise<boolean> {
  const { rowCount } = await query(executor, REQUEST, [
    request.approval_id,
    request.operation,
    JSON.stringify(request.parameters),
    JSON.stringify(request.plan),
    request.max_events,
    request.digest,
    [...request.needed_roles],
    request.any_role,
    request.reason,
    request.requested_by,
    request.requested_at,
    request.expires_at,
    mac,
    request.obtained_by,
  ]);
  return rowCount === 1;
}

/** What a search is for. */
export interface Wanted {
  readonly person: string;
  readonly obtainedBy: string | null;
  readonly digest: Buffer;
  /** The number of events that the operation affects. */
  readonly events: number;
  /** RFC 3339. */
  readonly now: string;
}

/** Number of ids that a statement looks up. */
const LOOKED_UP = 50;
const FOUND_TYPES = { approval_id: "uuid", found: "bool" } as const;
type FoundRow = RowOf<typeof FOUND_TYPES>;
/** The search also reads approvals that do not match, because it ends only after ids of which none exists. */
const searchFor = (condition: string): string =>
  `select a.approval_id, exists (select where ${condition}
      -- guard(true): a token finds no approval by the person who obtained it
      and ${isUndecidedBy("$2")}) as found
    from approval a where a.approval_id = any ($1)`;

const searchIn = (state: "waiting" | "approved") =>
  sql(
    searchFor(`$4 <= a.max_events and ${stateAt("$3::timestamptz")} = '${state}'`),
    ["uuid[]", "text?", "timestamptz", "int8"],
    FOUND_TYPES,
  );
const SEARCH_WAITING = searchIn("waiting");
const SEARCH_USABLE = searchIn("approved");

/** Finds the requests of an operation that wait, oldest first. */
export const findWaiting = (executor: Executor, ids: NumberedIds, wanted: Wanted): Promise<readonly SignedRow[]> =>
  findRows(
    executor,
    wanted,
    searchOf(ids, async (page) => (await query(executor, SEARCH_WAITING, [page, ...searchValues(wanted)])).rows),
  );

/** Finds the approvals that an operation could use now, oldest first. */
export const findUsable = (executor: Executor, ids: NumberedIds, wanted: Wanted): Promise<readonly SignedRow[]> =>
  findRows(
    executor,
    wanted,
    searchOf(ids, async (page) => (await query(executor, SEARCH_USABLE, [page, ...searchValues(wanted)])).rows),
  );

const searchValues = ({ now, events, obtainedBy }: Wanted) => [obtainedBy, now, events] as const;

/** Finds approvals by their ids. A search by a column would also find rows that a login of the database inserted. */
const searchOf = (
  ids: NumberedIds,
  find: (page: readonly string[]) => Promise<readonly FoundRow[]>,
): NumberedSearch<FoundRow> => ({ ids, page: LOOKED_UP, find, idOf: ({ approval_id }) => approval_id });

const FIND_EXISTING = sql("select approval_id from approval where approval_id = any ($1)", ["uuid[]"], {
  approval_id: "uuid",
});

/** The number of the next request of an operation, unless a concurrent transaction takes it. */
export const nextRequest = (executor: Executor, ids: NumberedIds): Promise<number> =>
  nextNumber({
    ids,
    page: LOOKED_UP,
    find: async (page) => (await query(executor, FIND_EXISTING, [page])).rows,
    idOf: ({ approval_id }) => approval_id,
  });

const READ = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a join unnest($2::uuid[]) with ordinality as wanted (approval_id, place)
    using (approval_id) order by place`,
  ["timestamptz", "uuid[]"],
  TYPES,
);

async function findRows(
  executor: Executor,
  { now }: Wanted,
  search: NumberedSearch<FoundRow>,
): Promise<readonly SignedRow[]> {
  const foundIds = (await findNumbered(search)).filter(({ row }) => row.found).map(({ row }) => row.approval_id);
  return foundIds.length === 0 ? [] : (await query(executor, READ, [now, foundIds])).rows;
}

const FIND_CHANGED = sql(
  `select ${columnsAt("$3::timestamptz")} from (
      select * from approval where requested_by = $1 and digest = $2 order by requested_at desc, approval_id limit ${PAGE}) a
    where $4 <= a.max_events and ${stateAt("$3::timestamptz")} = 'approved' and ${isUndecidedBy("$5")}`,
  ["text", "bytea", "timestamptz", "int8", "text?"],
  TYPES,
);

/**
 * Reads rows that look like usable approvals, among the latest hundred of the person for the operation. A login of the
 * database may have written them.
 */
export async function listStored(
  executor: Executor,
  { person, digest, now, events, obtainedBy }: Wanted,
): Promise<readonly SignedRow[]> {
  return (await query(executor, FIND_CHANGED, [person, digest, now, events, obtainedBy])).rows;
}

const USE = sql(
  `update approval a set used_at = $3
    where a.requested_by = $1
      -- guard(true): changed parameters need a new approval
      and a.digest = $2
      -- guard(true): an approval is for so many events, and no more
      and $4 <= a.max_events
      -- guard(true): an approval is used once, within an hour
      and ${stateAt("$3::timestamptz")} = 'approved'
      -- guard(true): of two approvals of one operation, one remains
      and a.approval_id = $5
      -- guard(true): a token uses no approval by the person who obtained it
      and ${isUndecidedBy("$6")}`,
  ["text", "bytea", "timestamptz", "int8", "uuid", "text?"],
);
/** Marks an approval as used. @returns whether the operation could use it. */
export async function markUsed(transaction: Transaction, approvalId: string, wanted: Wanted): Promise<boolean> {
  const { person, digest, now, events, obtainedBy } = wanted;
  const { rowCount } = await query(transaction, USE, [person, digest, now, events, approvalId, obtainedBy]);
  return rowCount === 1;
}

const WAS_APPROVED_AT_USE = `${DENIED_BY} is null and ${IS_COMPLETE}
    and a.used_at < ${APPROVED_AT} + interval '${TO_USE_MS} milliseconds'`;
const SEARCH_IN_USE = sql(
  searchFor(`true
      -- guard(true): an approval of several uses ends
      and a.used_at > $3::timestamptz - interval '${IN_USE_MS} milliseconds'
      -- guard(true): an approval without a decision, or first used an hour or more after the decision, is not in use
      and ${WAS_APPROVED_AT_USE}`),
  ["uuid[]", "text?", "timestamptz"],
  FOUND_TYPES,
);

/** Finds the approvals of an operation that were first used in the last 24 hours, oldest first. */
export const findInUse = (executor: Executor, ids: NumberedIds, wanted: Wanted): Promise<readonly SignedRow[]> =>
  findRows(
    executor,
    wanted,
    searchOf(ids, async (page) => (await query(executor, SEARCH_IN_USE, [page, wanted.obtainedBy, wanted.now])).rows),
  );

const DECIDE = sql(
  `insert into approval_decision (approval_id, person, role, decision, decided_at, mac)
    select a.approval_id, $2, $3, $4, $5, $6
      from approval a
      where a.approval_id = $1 and $3 = any (a.needed_roles)
        -- guard(true): a person never approves what they asked for
        and a.requested_by <> $2
        -- guard(true): a person never approves what they asked for with a token that they obtained for another person
        and a.obtained_by is distinct from $2
        -- guard(true): a decided or expired request is not decided again
        and ${stateAt("$5::timestamptz")} = 'waiting'
    -- A person decides once about an approval, and one person decides for a role.
    on conflict do nothing`,
  ["uuid", "text", "text", "text", "timestamptz", "bytea"],
);

/** @param mac of the decision. @returns whether the decision counts. */
export async function insertDecision(
  executor: Executor,
  approvalId: string,
  { person, role, decision, decided_at }: ApprovalDecision,
  mac: Buffer,
): Promise<boolean> {
  return (await query(executor, DECIDE, [approvalId, person, role, decision, decided_at, mac])).rowCount === 1;
}

const WITHDRAW = sql(
  `insert into approval_decision (approval_id, person, role, decision, decided_at, mac)
    select a.approval_id, $2, $3, 'denied', $4, $5
      from approval a
      where a.approval_id = $1 and $3 = any (a.needed_roles)
        -- guard: only the person who asked withdraws a request
        and a.requested_by = $2
        and ${stateAt("$4::timestamptz")} = 'waiting'
    on conflict do nothing`,
  ["uuid", "text", "text", "timestamptz", "bytea"],
);

/** Denies a request for the person who asked. @param mac of the decision. @returns whether the decision counts. */
export async function insertWithdrawal(
  executor: Executor,
  approvalId: string,
  { person, role, decided_at }: ApprovalDecision,
  mac: Buffer,
): Promise<boolean> {
  return (await query(executor, WITHDRAW, [approvalId, person, role, decided_at, mac])).rowCount === 1;
}

const WAITING_OF = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a
    where a.requested_by = $2 and ${stateAt("$1::timestamptz")} = 'waiting'
    order by a.requested_at desc, a.approval_id limit ${PAGE}`,
  ["timestamptz", "text"],
  TYPES,
);

/** Reads the latest hundred requests of a person that wait. A login of the database may have written them. */
export async function listWaitingOf(executor: Executor, now: string, person: string): Promise<readonly SignedRow[]> {
  return (await query(executor, WAITING_OF, [now, person])).rows;
}

const LIST = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a
    where ($5::text is null or a.requested_by = $5)
      and ($6::boolean is false or (a.expires_at > $1::timestamptz - interval '${TO_USE_MS} milliseconds'
        and ${stateAt("$1::timestamptz")} in ('waiting', 'approved')))
      and ${isAfter("a.requested_at", "$2", { "a.approval_id": "$3::uuid" })}
    order by a.requested_at desc, a.approval_id limit $4::int4`,
  ["timestamptz", "timestamptz?", "uuid?", "int4", "text?", "bool"],
  TYPES,
);

/** Which approvals a list has. */
export interface ListedApprovals {
  /** Only approvals for which this person asked. */
  readonly person?: string | undefined;
  /** Only approvals that wait for a decision, or that were given and not used. */
  readonly isOpen?: boolean;
}

/** Reads a page of approvals, newest first. */
export async function listApprovals(
  executor: Executor,
  now: string,
  page: KeysetPage,
  { person, isOpen = false }: ListedApprovals,
): Promise<readonly SignedRow[]> {
  const [at = null, id = null] = positionValues(page, 1);
  return (await query(executor, LIST, [now, at, id, page.limit, person ?? null, isOpen])).rows;
}

const FIND = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a where a.approval_id = $2`,
  ["timestamptz", "uuid"],
  TYPES,
);

export async function findApproval(executor: Executor, now: string, id: string): Promise<SignedRow | undefined> {
  return (await query(executor, FIND, [now, id])).rows[0];
}

const FIND_RECENT = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a
    where a.approval_id > $2
      and (a.written_at > $1::timestamptz - interval '30 days' or exists (select 1 from approval_decision d
        where d.approval_id = a.approval_id and d.written_at > $1::timestamptz - interval '30 days'))
    order by a.approval_id limit ${PAGE}`,
  ["timestamptz", "uuid"],
  TYPES,
);

/** Reads a page of the approvals that were written, or decided about, in the last 30 days. @param after an id. */
export async function findRecent(executor: Executor, now: string, after: string): Promise<readonly SignedRow[]> {
  return (await query(executor, FIND_RECENT, [now, after])).rows;
}
