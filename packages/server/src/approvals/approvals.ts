/**
 * Approvals: a second person allows one operation, with its parameters and its plan, once. Rules that a caller must not
 * bypass are conditions of the statements. A login of the database can bypass them, but it can't make a MAC.
 */
import { createHash, randomUUID } from "node:crypto";
import type { Role } from "@device-risk-signals/admin-api";
import { canonicalize } from "@device-risk-signals/contract";
import { OperatorError } from "../errors/operator-error.ts";
import type { Clock } from "../ports.ts";
import type { Executor, Transaction } from "../postgres/executor.ts";
import { instant, instantOf } from "../postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../postgres/keyset.ts";
import { narrowed, query, type RowOf, sql } from "../postgres/statement.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalSigner } from "./approval-signer.ts";

/**
 * The time within which an approval must be given after the request, and after which an approval that was given can no
 * longer be used.
 */
const TO_APPROVE_MS = 24 * 3_600_000;
const TO_USE_MS = 3_600_000;
/** The time for which an approval of several uses is valid after its first use. */
const IN_USE_MS = 24 * 3_600_000;

/** What an approval allows. */
export interface ApprovedOperation {
  /** The operation in audit entries, such as `erase.run`. */
  readonly operation: string;
  /** The parameters. The approval is valid only for exactly these. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The effect of the operation with counts, as the approver sees it. */
  readonly plan: Readonly<Record<string, unknown>>;
  /** The number of events that the operation affects now. */
  readonly events: number;
  /** Whether the approval is for exactly this number of events. If absent, it is for a tenth more than `events`. */
  readonly isExact?: true;
  /** Roles that must approve, each through a person with that role. */
  readonly needed: readonly Role[];
  /** Whether one of the roles is enough. */
  readonly anyRole?: true;
}

/**
 * The state of an approval. `changed`: the request or a decision is not what the admin API signed, and allows nothing.
 */
export type ApprovalState = "waiting" | "approved" | "denied" | "used" | "expired" | "changed";

export interface ApprovalRow {
  readonly approval_id: string;
  readonly operation: string;
  /** `null`, like the plan, if the approval is changed. */
  readonly parameters: unknown;
  readonly plan: unknown;
  readonly max_events: number;
  readonly needed_roles: string[];
  readonly any_role: boolean;
  readonly reason: string;
  readonly requested_by: string;
  readonly obtained_by: string | null;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly approved_by: string[];
  readonly denied_by: string | null;
  readonly state: ApprovalState;
}

const APPROVED_AT = `(select max(d.decided_at) from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'approved')`;
/** An approval is complete when each needed role has approved, or one of them if one is enough. */
const IS_COMPLETE = `case when a.any_role then ${APPROVED_AT} is not null
    else not exists (select from unnest(a.needed_roles) as needed (role) where not exists (
    select from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'approved' and d.role = needed.role)) end`;
const DENIED_BY = `(select d.person from approval_decision d
    where d.approval_id = a.approval_id and d.decision = 'denied' limit 1)`;
/** @param now the placeholder of the current time. */
const stateAt = (now: string): string => `case
    when a.used_at is not null then 'used'
    when ${DENIED_BY} is not null then 'denied'
    when ${IS_COMPLETE} then case when ${APPROVED_AT} + interval '${TO_USE_MS} milliseconds' > ${now} then 'approved' else 'expired' end
    when a.expires_at > ${now} then 'waiting'
    else 'expired' end`;

/** @param person the placeholder of the person who obtained the admin token; `null` decided nothing. */
const isUndecidedBy = (person: string): string =>
  `not exists (select from approval_decision d where d.approval_id = a.approval_id and d.person = ${person})`;

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
  state: narrowed<ApprovalState>("text"),
} as const;
type SignedRow = RowOf<typeof TYPES>;
type FoundRow = SignedRow & { readonly position: string };

/** SHA-256 of the canonical form (RFC 8785) of operation, parameters and roles. */
export const digestOf = ({ operation, parameters, needed }: ApprovedOperation): Buffer =>
  createHash("sha256")
    .update(canonicalize([operation, parameters, needed]))
    .digest();

/**
 * The maximum number of events of an approval. Events may arrive until the operation begins, so it is a tenth more than
 * there are, and at least 100 more.
 */
const boundOf = (events: number): number => events + Math.max(100, Math.ceil(events / 10));

const REQUEST = sql(
  `insert into approval (approval_id, operation, parameters, plan, max_events, digest, needed_roles, any_role, reason,
      requested_by, requested_at, expires_at, mac, obtained_by)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
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
 * A login of the database can insert approvals without limit. A search reads them in pages of this size, for a limited
 * time.
 */
const PAGE = 100;
const SEARCH_MS = 2_000;
/** Maximum number of approvals that a search names because the admin API did not sign them. */
const MAX_CHANGED = 100;

/** The time and the id of the last approval of a page. The time is in PostgreSQL's text, because it has microseconds. */
type After = readonly [position: string, approvalId: string];
const START: After = ["-infinity", "00000000-0000-0000-0000-000000000000"];
const FOUND_TYPES = { ...TYPES, position: "text" } as const;

/** The end of a search: a page in the order of a time. @param position and id are the placeholders of `After`. */
const pageAfter = (time: string, position: string, id: string): string =>
  `and (${time}, a.approval_id) > (${position}::timestamptz, ${id}) order by ${time}, a.approval_id limit ${PAGE}`;

const findIn = (state: "waiting" | "approved") =>
  sql(
    `select ${columnsAt("$3::timestamptz")}, a.requested_at::text as position from approval a
      where a.requested_by = $1 and a.digest = $2 and $4 <= a.max_events
        and ${stateAt("$3::timestamptz")} = '${state}'
        -- guard(true): a token finds no approval by the person who obtained it
        -- fails: packages/server/src/approvals/approvals.test.ts › not found, used or in use
        and ${isUndecidedBy("$5")}
      ${pageAfter("a.requested_at", "$6", "$7")}`,
    ["text", "bytea", "timestamptz", "int8", "text?", "timestamptz", "uuid"],
    FOUND_TYPES,
  );
const FIND_WAITING = findIn("waiting");
const FIND_USABLE = findIn("approved");

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
      -- fails: packages/server/src/approvals/approvals.test.ts › of two approvals that it names
      and a.approval_id = $5
      -- guard(true): a token uses no approval by the person who obtained it
      -- fails: packages/server/src/approvals/approvals.test.ts › not found, used or in use
      and ${isUndecidedBy("$6")}`,
  ["text", "bytea", "timestamptz", "int8", "uuid", "text?"],
);
const WAS_APPROVED_AT_USE = `${DENIED_BY} is null and ${IS_COMPLETE}
    and a.used_at < ${APPROVED_AT} + interval '${TO_USE_MS} milliseconds'`;
const FIND_IN_USE = sql(
  `select ${columnsAt("$3::timestamptz")}, a.used_at::text as position from approval a
    -- guard(true): an approval is for the person who asked for it
    -- fails: packages/server/src/approvals/approvals.test.ts › valid for a day after the first use
    where a.requested_by = $1
      -- guard(true): an approval of a case opens nothing in another case
      -- fails: packages/server/src/admin/cases.test.ts › only in that case
      and a.digest = $2
      -- guard(true): an approval of several uses ends
      -- fails: packages/server/src/approvals/approvals.test.ts › valid for a day after the first use
      and a.used_at > $3::timestamptz - interval '${IN_USE_MS} milliseconds'
      -- guard(true): what no person approved, or approved earlier, is not in use
      -- fails: packages/server/src/approvals/approvals.test.ts › a login of the database
      and ${WAS_APPROVED_AT_USE}
      -- guard(true): a token opens no events under an approval by the person who obtained it
      -- fails: packages/server/src/approvals/approvals.test.ts › not found, used or in use
      and ${isUndecidedBy("$4")}
    ${pageAfter("a.used_at", "$5", "$6")}`,
  ["text", "bytea", "timestamptz", "text?", "timestamptz", "uuid"],
  FOUND_TYPES,
);

export interface Decision {
  readonly approvalId: string;
  readonly person: string;
  readonly roles: readonly Role[];
  readonly decision: "approved" | "denied";
}

const DECIDE = sql(
  `insert into approval_decision (approval_id, person, role, decision, decided_at, mac)
    select a.approval_id, $2, $3, $4, $5, $6
      from approval a
      where a.approval_id = $1 and $3 = any (a.needed_roles)
        -- guard(true): a person never approves what they asked for
        -- fails: packages/server/src/approvals/approvals.test.ts › their own request
        and a.requested_by <> $2
        -- guard(true): a person never approves what they asked for with a token that they obtained for another person
        -- fails: packages/server/src/approvals/approvals.test.ts › a token that the approver obtained
        and a.obtained_by is distinct from $2
        -- guard(true): a decided or expired request is not decided again
        -- fails: packages/server/src/approvals/approvals.test.ts › is decided once
        and ${stateAt("$5::timestamptz")} = 'waiting'
    -- One person is one pair of eyes: a person decides once about an approval, and a role is decided once.
    on conflict do nothing`,
  ["uuid", "text", "text", "text", "timestamptz", "bytea"],
);

const LIST = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a
    where ($5::text is null or a.requested_by = $5)
      and ${isAfter("a.requested_at", "$2", { "a.approval_id": "$3::uuid" })}
    order by a.requested_at desc, a.approval_id limit $4::int4`,
  ["timestamptz", "timestamptz?", "uuid?", "int4", "text?"],
  TYPES,
);
const FIND = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a where a.approval_id = $2`,
  ["timestamptz", "uuid"],
  TYPES,
);

const FIND_RECENT = sql(
  `select ${columnsAt("$1::timestamptz")} from approval a
    where a.written_at > $1::timestamptz - interval '30 days' or exists (select from approval_decision d
      where d.approval_id = a.approval_id and d.written_at > $1::timestamptz - interval '30 days')`,
  ["timestamptz"],
  TYPES,
);

/** The caller who asks for an approval, or uses one. */
export interface Asker {
  readonly person: string;
  /** The person who obtained the admin token of the caller, if it is another person. */
  readonly obtainedBy?: string | undefined;
}

/** The result of `findUsable`. */
export interface UsableApproval {
  /** The id of the approval; `undefined` if there is none. */
  readonly id: string | undefined;
  /** Approvals that would allow the operation if the admin API had signed them; the first hundred. */
  readonly changed: readonly string[];
}

/** The approvals of an installation. Each request and each decision has a MAC, which is verified when it is read. */
export class Approvals {
  readonly #signer: ApprovalSigner;
  readonly #searchMs: number;

  constructor(signer: ApprovalSigner, searchMs = SEARCH_MS) {
    this.#signer = signer;
    this.#searchMs = searchMs;
  }

  /**
   * Asks for an approval once. If the same request is waiting already, it is found again. @returns the approval's id.
   */
  async request(
    executor: Executor,
    clock: Clock,
    wanted: ApprovedOperation & Asker & { readonly reason: string },
  ): Promise<string> {
    const now = clock.now();
    const at = new Date(now).toISOString();
    const digest = digestOf(wanted);
    const obtainedBy = wanted.obtainedBy ?? null;
    const values = [wanted.person, digest, at, wanted.events, obtainedBy] as const;
    const read = async (after: After) => (await query(executor, FIND_WAITING, [...values, ...after])).rows;
    for await (const row of this.#search(read)) {
      if (row.obtained_by === obtainedBy && this.#isSigned(row)) return row.approval_id;
    }
    const [parameters, plan] = [JSON.stringify(wanted.parameters), JSON.stringify(wanted.plan)];
    const request: ApprovalRequest = {
      approval_id: randomUUID(),
      operation: wanted.operation,
      parameters: JSON.parse(parameters) as unknown,
      plan: JSON.parse(plan) as unknown,
      max_events: wanted.isExact ? wanted.events : boundOf(wanted.events),
      digest,
      needed_roles: wanted.needed,
      any_role: wanted.anyRole ?? false,
      reason: wanted.reason,
      requested_by: wanted.person,
      obtained_by: obtainedBy,
      requested_at: at,
      expires_at: new Date(now + TO_APPROVE_MS).toISOString(),
    };
    await query(executor, REQUEST, [
      request.approval_id,
      request.operation,
      parameters,
      plan,
      request.max_events,
      digest,
      [...request.needed_roles],
      request.any_role,
      request.reason,
      request.requested_by,
      at,
      request.expires_at,
      this.#signer.signRequest(request),
      obtainedBy,
    ]);
    return request.approval_id;
  }

  /** Finds the approval that the operation could use now. */
  async findUsable(
    executor: Executor,
    clock: Clock,
    { person, obtainedBy }: Asker,
    operation: ApprovedOperation,
  ): Promise<UsableApproval> {
    const values = [person, digestOf(operation), nowOf(clock), operation.events, obtainedBy ?? null] as const;
    const read = async (after: After) => (await query(executor, FIND_USABLE, [...values, ...after])).rows;
    const changed: string[] = [];
    for await (const row of this.#search(read)) {
      if (this.#isSigned(row)) return { id: row.approval_id, changed };
      if (changed.length < MAX_CHANGED) changed.push(row.approval_id);
    }
    return { id: undefined, changed };
  }

  /**
   * Uses an approval in the transaction in which the operation begins. Two uses at the same time exclude each other,
   * and an operation that does not begin uses no approval.
   * @returns whether the person could use it for this operation; otherwise the transaction must not commit.
   */
  async use(
    transaction: Transaction,
    clock: Clock,
    { person, obtainedBy }: Asker,
    { approvalId, ...operation }: ApprovedOperation & { readonly approvalId: string },
  ): Promise<boolean> {
    const [digest, now] = [digestOf(operation), nowOf(clock)];
    const values = [person, digest, now, operation.events, approvalId, obtainedBy ?? null] as const;
    const { rowCount } = await query(transaction, USE, values);
    if (rowCount !== 1) return false;
    // This read comes after the update, because the update has seen every decision that this statement sees.
    const row = await this.#read(transaction, clock, approvalId);
    // guard(true): a request and decisions that the admin API did not sign are no approval
    // fails: packages/server/src/approvals/approvals.test.ts › a login of the database
    return row !== undefined && this.#isSigned(row);
  }

  /**
   * Approvals of the operation that were first used in the last 24 hours, for an operation that an approval allows
   * several times.
   */
  async findInUse(
    executor: Executor,
    clock: Clock,
    { person, obtainedBy }: Asker,
    operation: ApprovedOperation,
  ): Promise<readonly string[]> {
    const values = [person, digestOf(operation), nowOf(clock), obtainedBy ?? null] as const;
    const read = async (after: After) => (await query(executor, FIND_IN_USE, [...values, ...after])).rows;
    const found: string[] = [];
    for await (const row of this.#search(read)) if (this.#isSigned(row)) found.push(row.approval_id);
    return found;
  }

  /**
   * Records the decision of a person for one of the needed roles that the person has and for which no other person has
   * decided.
   * @returns whether the decision counts.
   */
  async decide(executor: Executor, clock: Clock, { approvalId, person, roles, decision }: Decision): Promise<boolean> {
    const row = await this.#read(executor, clock, approvalId);
    if (!row || !this.#isSigned(row)) return false;
    const decided = new Set(row.decisions.map(({ role }) => role));
    const role = row.needed_roles
      .filter((needed) => roles.some((one) => one === needed) && !decided.has(needed))
      .sort()[0];
    if (role === undefined) return false;
    const made: ApprovalDecision = { person, role, decision, decided_at: nowOf(clock) };
    const mac = this.#signer.signDecision(row.mac, made);
    const { rowCount } = await query(executor, DECIDE, [approvalId, person, role, decision, made.decided_at, mac]);
    return rowCount === 1;
  }

  /** Lists approvals, newest first. @param person who asked for them; absent: each person. */
  async list(
    executor: Executor,
    clock: Clock,
    page: KeysetPage = FIRST_PAGE,
    person?: string,
  ): Promise<readonly ApprovalRow[]> {
    const [at = null, id = null] = positionValues(page, 1);
    const { rows } = await query(executor, LIST, [nowOf(clock), at, id, page.limit, person ?? null]);
    return rows.map((row) => this.#shown(row));
  }

  async find(executor: Executor, clock: Clock, id: string): Promise<ApprovalRow | undefined> {
    const row = await this.#read(executor, clock, id);
    return row && this.#shown(row);
  }

  /**
   * Counts approvals, written in the last 30 days, that the admin API did not sign, or that have a decision without its
   * signature.
   */
  async countChanged(executor: Executor, clock: Clock): Promise<number> {
    const { rows } = await query(executor, FIND_RECENT, [nowOf(clock)]);
    return rows.filter((row) => !this.#isSigned(row)).length;
  }

  /** Reads page after page, until the time of the search is over. @throws approval-changed */
  async *#search(read: (after: After) => Promise<readonly FoundRow[]>): AsyncGenerator<FoundRow> {
    const end = performance.now() + this.#searchMs;
    let after: After = START;
    for (let found = 0; ;) {
      const rows = await read(after);
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      found += rows.length;
      if (performance.now() >= end) throw tooMany(found);
      after = [last.position, last.approval_id];
    }
  }

  async #read(executor: Executor, clock: Clock, id: string): Promise<SignedRow | undefined> {
    return (await query(executor, FIND, [nowOf(clock), id])).rows[0];
  }

  #shown({ digest, mac, decisions, ...row }: SignedRow): ApprovalRow {
    const madeBy = (wanted: ApprovalDecision["decision"]): string[] =>
      decisions.filter(({ decision }) => decision === wanted).map(({ person }) => person);
    const isSigned = this.#isSigned({ digest, mac, decisions, ...row });
    // A login of the database can write values that are too large, or nested too deeply, for the answer.
    const unknown = { parameters: null, plan: null, approved_by: [], denied_by: null };
    // guard(false): a forged decision is not shown as given
    // fails: packages/server/src/approvals/approvals.test.ts › a login of the database
    if (!isSigned) return { ...row, ...unknown, state: "changed" };
    return { ...row, approved_by: madeBy("approved"), denied_by: madeBy("denied")[0] ?? null };
  }

  #isSigned(row: SignedRow): boolean {
    return this.#signer.isSigned(row, row.decisions);
  }
}

const tooMany = (found: number): OperatorError =>
  new OperatorError(
    "approval-changed",
    `The search for an approval was stopped after ${found} approvals of this operation that the admin API did not sign. A login of the database wrote them: delete them as the owner of the table approval.`,
  );

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();
