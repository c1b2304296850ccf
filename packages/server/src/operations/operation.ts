import type { Answer, Input, RouteId, ROUTES, Scope } from "@device-risk-signals/admin-api";
import type { AuditEntry } from "../audit/audit.ts";
import type { Caller } from "../access/identity/caller.ts";
import type { PortName, Ports } from "./ports.ts";

/** What the audit entry of a read contains in addition to the operation and its caller. */
export type AuditedRead = Partial<
  Pick<AuditEntry, "account" | "eventIds" | "detail" | "reason" | "category" | "ticket" | "caseId">
>;

export interface OperationCall<Id extends RouteId, Name extends PortName = PortName> {
  readonly ports: Ports<Name>;
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

/** The operation of a route, and the names of the ports that it uses. */
export type Operation<Id extends RouteId, Name extends PortName> = (
  call: OperationCall<Id, Name>,
) => Promise<OperationResult<Id>>;

/** The login that owns the tables. Only a worker has it. */
type OwnerPort = "administration" | "installation.administration";

/** The routes that use this login if the process has it, and otherwise answer without it. */
type OwnerIfAvailable = "readHealth" | "signCheckpoint";

/** What opens payloads and feature values. */
type OpeningPort = `${"installation" | "keys"}.${"featureSealer" | "sealer"}`;

type RefusedPort<Id extends RouteId> = Id extends OwnerIfAvailable
  ? never
  : | ((typeof ROUTES)[Id] extends { readonly appliedBy: "worker" } ? never : OwnerPort)
    | ((typeof ROUTES)[Id] extends { readonly access: "read" } ? OpeningPort : never);

/**
 * One operation for each route. The operation of a route that no worker applies can't use the owner's login, and the one
 * of a route with the access `read` can't open payloads.
 */
export type Operations = { readonly [Id in RouteId]: Operation<Id, Exclude<PortName, RefusedPort<Id>>> };
