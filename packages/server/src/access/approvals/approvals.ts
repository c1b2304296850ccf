/**
 * Approvals: a second person allows one operation with its parameters and its plan. A login of the database can write
 * rows that break the rules of `approval-table.ts`, but it can't make a MAC.
 */
import { createHash } from "node:crypto";
import type { Role } from "@device-risk-signals/admin-api";
import { canonicalize } from "@device-risk-signals/contract";
import { MAX_UNSIGNED } from "../../store/crypto/row-signer.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import type { Clock } from "../../base/ports.ts";
import type { Executor, Transaction } from "../../store/postgres/executor.ts";
import { FIRST_PAGE, type KeysetPage } from "../../store/postgres/keyset.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalSigner } from "./approval-signer.ts";
import {
  FIRST_ID,
  findApproval,
  findInUse,
  findRecent,
  findUsable,
  findWaiting,
  insertApproval,
  insertDecision,
  insertWithdrawal,
  listApprovals,
  type ListedApprovals,
  listStored,
  listWaitingOf,
  markUsed,
  MAX_JSON_BYTES,
  nextRequest,
  PAGE,
  type SignedRow,
  type StoredState,
  type Wanted,
} from "./approval-table.ts";

/** Maximum number of requests of one person that wait at the same time. */
const MAX_WAITING = 20;
/** The time after a request within which it must be approved. */
const TO_APPROVE_MS = 24 * 3_600_000;

/** What an approval allows. */
export interface ApprovedOperation {
  /** The operation in audit entries, such as `erase.run`. */
  readonly operation: string;
  /** The parameters. The approval is valid only for exactly these parameters. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The effect of the operation with counts, as the approver sees it. */
  readonly plan: Readonly<Record<string, unknown>>;
  /** The number of events that the operation affects now. */
  readonly events: number;
  /**
   * Whether the approval is for exactly this number of events. If absent, the approval is for more events than `events`
   * (`boundOf`).
   */
  readonly isExact?: true;
  /** Roles that must approve, each through a person with that role. */
  readonly needed: readonly Role[];
  /** Whether one of the roles is enough. */
  readonly anyRole?: true;
}

/**
 * The state of an approval. `changed`: the request or a decision is not what the admin API signed, and allows nothing.
 */
export type ApprovalState = StoredState | "changed";

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

/** SHA-256 of the canonical form (RFC 8785) of operation, parameters and roles. */
const digestOf = ({ operation, parameters, needed }: ApprovedOperation): Buffer =>
  createHash("sha256")
    .update(canonicalize([operation, parameters, needed]))
    .digest();

/**
 * The maximum number of events of an approval. Events may arrive until the operation begins, so it is a tenth more than
 * there are, and at least 100 more.
 */
const boundOf = (events: number): number => events + Math.max(100, Math.ceil(events / 10));

/** A login of the database can insert approvals without limit. A list reads them in pages, for a limited time. */
const LIST_MS = 2_000;

export interface Decision {
  readonly approvalId: string;
  readonly person: string;
  readonly roles: readonly Role[];
  readonly decision: "approved" | "denied";
}

/** The caller who asks for an approval, or uses one. */
export interface Asker {
  readonly person: string;
  /** The person who obtained the admin token of the caller, if this is another person. */
  readonly obtainedBy?: string | undefined;
}

/** A page of the list. It may have fewer approvals than the limit and not be the last one. */
export interface ApprovalPage {
  readonly rows: readonly ApprovalRow[];
  readonly isLast: boolean;
}

/**
 * The approvals of an installation. Each request and each decision has a MAC, which is verified whenever the row is
 * read.
 */
export class Approvals {
  readonly #signer: ApprovalSigner;
  readonly #listMs: number;

  constructor(signer: ApprovalSigner, listMs = LIST_MS) {
    this.#signer = signer;
    this.#listMs = listMs;
  }

  /**
   * Asks for an approval once. If the same request is already waiting, no other one is made.
   * @returns the approval's id.
   * @throws state-conflict if the operation is too large for an approval, or too many requests of the person wait.
   */
  async request(
    executor: Executor,
    clock: Clock,
    wanted: ApprovedOperation & Asker & { readonly reason: string },
  ): Promise<string> {
    const search = searchOf(wanted, clock, wanted);
    const ids = this.#signer.idsOf(search.person, search.digest);
    const waiting = (await findWaiting(executor, ids, search)).find(
      (row) => row.obtained_by === search.obtainedBy && this.#isSigned(row),
    );
    if (waiting) return waiting.approval_id;
    const others = (await listWaitingOf(executor, search.now, wanted.person)).filter((row) => this.#isSigned(row));
    // guard: a person can't fill the list of other people's requests
    if (others.length >= MAX_WAITING) throw tooManyWait(others);
    const request = {
      operation: wanted.operation,
      parameters: JSON.parse(JSON.stringify(wanted.parameters)) as unknown,
      plan: JSON.parse(JSON.stringify(wanted.plan)) as unknown,
      max_events: wanted.isExact ? wanted.events : boundOf(wanted.events),
      digest: search.digest,
      needed_roles: wanted.needed,
      any_role: wanted.anyRole ?? false,
      reason: wanted.reason,
      requested_by: wanted.person,
      obtained_by: search.obtainedBy,
      requested_at: search.now,
      expires_at: new Date(Date.parse(search.now) + TO_APPROVE_MS).toISOString(),
    };
    const size = Buffer.byteLength(JSON.stringify([request.parameters, request.plan]));
    // guard(false): an operation that the constraint of the table would refuse gets an answer that says why
    if (size > MAX_JSON_BYTES) throw tooLarge(size);
    for (let number = await nextRequest(executor, ids); ; number++) {
      const numbered: ApprovalRequest = { ...request, approval_id: ids(number) };
      if (await insertApproval(executor, numbered, this.#signer.signRequest(numbered))) return numbered.approval_id;
    }
  }

  /** Finds an approval that the operation could use now. @returns its id; `undefined` if there is none. */
  async findUsable(
    executor: Executor,
    clock: Clock,
    asker: Asker,
    operation: ApprovedOperation,
  ): Promise<string | undefined> {
    const wanted = searchOf(asker, clock, operation);
    const rows = await findUsable(executor, this.#signer.idsOf(wanted.person, wanted.digest), wanted);
    return rows.find((row) => this.#isSigned(row))?.approval_id;
  }

  /**
   * Finds approvals that would allow the operation if the admin API had signed them, among the latest hundred of the
   * person for the operation. @returns their ids.
   */
  async findChanged(
    executor: Executor,
    clock: Clock,
    asker: Asker,
    operation: ApprovedOperation,
  ): Promise<readonly string[]> {
    const stored = await listStored(executor, searchOf(asker, clock, operation));
    return stored.filter((row) => !this.#isSigned(row)).map(({ approval_id }) => approval_id);
  }

  /**
   * Uses an approval in the transaction in which the operation begins. Of two uses at the same time only one succeeds,
   * and the approval stays unused if the transaction is rolled back.
   * @returns whether the person may use it for this operation. If not, the transaction must not commit.
   */
  async use(
    transaction: Transaction,
    clock: Clock,
    asker: Asker,
    { approvalId, ...operation }: ApprovedOperation & { readonly approvalId: string },
  ): Promise<boolean> {
    if (!(await markUsed(transaction, approvalId, searchOf(asker, clock, operation)))) return false;
    // The approval is read after the update, so that the read includes every decision on which the update relied.
    const row = await findApproval(transaction, nowOf(clock), approvalId);
    // guard(true): a request and decisions that the admin API did not sign are no approval
    return row !== undefined && this.#isSigned(row);
  }

  /**
   * Finds approvals of the operation whose first use was in the last 24 hours, for an operation that an approval allows
   * several times.
   */
  async findInUse(
    executor: Executor,
    clock: Clock,
    asker: Asker,
    operation: ApprovedOperation,
  ): Promise<readonly string[]> {
    const wanted = searchOf(asker, clock, operation);
    const rows = await findInUse(executor, this.#signer.idsOf(wanted.person, wanted.digest), wanted);
    return rows.filter((row) => this.#isSigned(row)).map(({ approval_id }) => approval_id);
  }

  /**
   * Records the decision of a person for one of the needed roles that the person has and for which no other person has
   * decided.
   * @returns whether the decision counts.
   */
  async decide(executor: Executor, clock: Clock, { approvalId, person, roles, decision }: Decision): Promise<boolean> {
    const row = await findApproval(executor, nowOf(clock), approvalId);
    if (!row || !this.#isSigned(row)) return false;
    const decided = new Set(row.decisions.map(({ role }) => role));
    const role = row.needed_roles
      .filter((needed) => roles.some((one) => one === needed) && !decided.has(needed))
      .sort()[0];
    if (role === undefined) return false;
    const made: ApprovalDecision = { person, role, decision, decided_at: nowOf(clock) };
    return insertDecision(executor, approvalId, made, this.#signer.signDecision(row.mac, made));
  }

  /** Denies a waiting request for the person who asked. @returns whether the request was withdrawn. */
  async withdraw(executor: Executor, clock: Clock, approvalId: string, person: string): Promise<boolean> {
    const row = await findApproval(executor, nowOf(clock), approvalId);
    if (!row || !this.#isSigned(row)) return false;
    const decided = new Set(row.decisions.map(({ role }) => role));
    const role = row.needed_roles.find((needed) => !decided.has(needed));
    if (role === undefined) return false;
    const made: ApprovalDecision = { person, role, decision: "denied", decided_at: nowOf(clock) };
    return insertWithdrawal(executor, approvalId, made, this.#signer.signDecision(row.mac, made));
  }

  /**
   * Lists approvals, newest first. A page that takes too long ends early, after at least one SQL statement.
   * @param only which approvals; by default all.
   */
  async list(
    executor: Executor,
    clock: Clock,
    page: KeysetPage = FIRST_PAGE,
    only: ListedApprovals = {},
  ): Promise<ApprovalPage> {
    const end = performance.now() + this.#listMs;
    const listed: ApprovalRow[] = [];
    for (let after = page.after; ;) {
      const limit = Math.min(PAGE, page.limit - listed.length);
      const rows = await listApprovals(executor, nowOf(clock), { limit, ...(after && { after }) }, only);
      listed.push(...rows.map((row) => this.#shown(row)));
      const last = rows.at(-1);
      if (!last || rows.length < limit) return { rows: listed, isLast: true };
      if (listed.length === page.limit) return { rows: listed, isLast: false };
      // guard(false): a page of rows that a login of the database wrote does not take long
      if (performance.now() >= end) return { rows: listed, isLast: false };
      after = { at: last.requested_at, ids: [last.approval_id] };
    }
  }

  async find(executor: Executor, clock: Clock, id: string): Promise<ApprovalRow | undefined> {
    const row = await findApproval(executor, nowOf(clock), id);
    return row && this.#shown(row);
  }

  /**
   * Counts approvals that were written or decided about in the last 30 days, and of which the admin API did not sign
   * the request or a decision. It stops at about a thousand, because a login of the database can insert approvals
   * without limit.
   */
  async countChanged(executor: Executor, clock: Clock): Promise<number> {
    const now = nowOf(clock);
    let changed = 0;
    for (let after = FIRST_ID; ;) {
      const rows = await findRecent(executor, now, after);
      changed += rows.filter((row) => !this.#isSigned(row)).length;
      const last = rows.at(-1);
      if (!last || rows.length < PAGE || changed >= MAX_UNSIGNED) return changed;
      after = last.approval_id;
    }
  }

  #shown({ digest, mac, decisions, ...row }: SignedRow): ApprovalRow {
    const madeBy = (wanted: ApprovalDecision["decision"]): string[] =>
      decisions.filter(({ decision }) => decision === wanted).map(({ person }) => person);
    const isSigned = this.#isSigned({ digest, mac, decisions, ...row });
    // Parameters and plan are not shown, because a login of the database can write values that are too large, or nested
    // too deeply, for the answer.
    const hidden = { parameters: null, plan: null, approved_by: [], denied_by: null };
    // guard(false): a forged decision is not shown as given
    if (!isSigned) return { ...row, ...hidden, state: "changed" };
    return { ...row, approved_by: madeBy("approved"), denied_by: madeBy("denied")[0] ?? null };
  }

  #isSigned(row: SignedRow): boolean {
    return this.#signer.isSigned(row, row.decisions);
  }
}

const tooLarge = (size: number): OperatorError =>
  new OperatorError(
    "state-conflict",
    `The parameters and the plan of the operation have ${size} bytes, and an approval stores ${MAX_JSON_BYTES}: do the operation in several parts.`,
  );

const tooManyWait = (waiting: readonly SignedRow[]): OperatorError =>
  new OperatorError(
    "state-conflict",
    `${waiting.length} approvals of this person wait for a decision, and no more may: ${waiting
      .map(({ approval_id, operation }) => `${approval_id} (${operation})`)
      .join(", ")}. Wait for a decision, or withdraw one with drs approval withdraw.`,
  );

const searchOf = ({ person, obtainedBy }: Asker, clock: Clock, operation: ApprovedOperation): Wanted => ({
  person,
  obtainedBy: obtainedBy ?? null,
  digest: digestOf(operation),
  events: operation.events,
  now: nowOf(clock),
});

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();
