/** Audit entries that an operation writes itself, in addition to the entry of its result or instead of it. */
import { type RouteId, routeOf } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { agentOf } from "../access/identity/caller.ts";
import type { AuditedRead, OperationCall } from "./operation.ts";

/** What an operation uses that writes audit entries. */
export type AuditPorts = "keys.audit" | "pool";

type Call = Pick<OperationCall<RouteId, AuditPorts>, "ports" | "caller">;

async function write({ ports, caller }: Call, id: RouteId, outcome: string, read: AuditedRead): Promise<string> {
  const { operation } = routeOf(id);
  return writeAudit(ports.pool, (await ports.keys()).audit, { ...agentOf(caller), operation, outcome, ...read });
}

/** Writes an entry before a long operation, because the operation may fail or be interrupted. */
export const auditBegun = (call: Call, id: RouteId, read: AuditedRead): Promise<string> =>
  write(call, id, "begun", read);

/** Writes an entry before the database reveals the data that the entry names. @returns the id of the entry. */
export const auditRevealed = (call: Call, id: RouteId, read: AuditedRead): Promise<string> =>
  write(call, id, "done", read);

/** Writes an entry for a caller who searches for a subject that does not exist. */
export const auditNotFound = (call: Call, id: RouteId, read: AuditedRead): Promise<string> =>
  write(call, id, "not-found", read);
