import type { Answer, Input, RouteId, Scope } from "@device-risk-signals/admin-api";
import type { AuditEntry } from "../audit/audit.ts";
import type { Caller } from "../access/identity/caller.ts";
import type { AdminPorts } from "./ports.ts";

/** What the audit entry of a read contains in addition to the operation and its caller. */
export type AuditedRead = Partial<
  Pick<AuditEntry, "account" | "eventIds" | "detail" | "reason" | "category" | "ticket" | "caseId">
>;

export interface OperationCall<Id extends RouteId> {
  readonly ports: AdminPorts;
  readonly caller: Caller;
  /** The extent of the caller's permission. */
  readonly scope: Scope;
  readonly input: Input<Id>;
}

/** The answer of an operation, and the audit entry that it still needs. */
export interface OperationResult<Id extends RouteId> {
  readonly answer: Answer<Id>;
  /**
   * The audit entry to write before the answer is sent. Absent if the operation has written its entry itself, or needs
   * none.
   */
  readonly audit?: AuditedRead;
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type Operation<Id extends RouteId> = (call: OperationCall<Id>) => Promise<OperationResult<Id>>;

/** One operation for each route. */
export type Operations = { readonly [Id in RouteId]: Operation<Id> };
