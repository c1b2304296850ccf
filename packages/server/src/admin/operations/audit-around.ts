/** Audit entries that an operation writes itself, in addition to the one of its result or in place of it. */
import { type RouteId, routeOf } from "@device-risk-signals/admin-api";
import { writeAudit } from "../../audit/audit.ts";
import { agentOf } from "../../identity/caller.ts";
import type { AuditedRead, OperationCall } from "./operation.ts";

type Call = Pick<OperationCall<RouteId>, "ports" | "caller">;

async function write({ ports, caller }: Call, id: RouteId, outcome: string, read: AuditedRead): Promise<string> {
  const { operation } = routeOf(id);
  return writeAudit(ports.pool, (await ports.keys()).audit, { ...agentOf(caller), operation, outcome, ...read });
}

/** Written before long work, which may fail or be ended. */
export const auditBegun = (call: Call, id: RouteId, read: AuditedRead): Promise<string> =>
  write(call, id, "begun", read);

/** Written before the database reveals what the entry names. @returns the id of the entry. */
export const auditRevealed = (call: Call, id: RouteId, read: AuditedRead): Promise<string> =>
  write(call, id, "done", read);

/** A caller who looks for a subject that is not there leaves an entry, too. */
export const auditNotFound = (call: Call, id: RouteId, read: AuditedRead): Promise<string> =>
  write(call, id, "not-found", read);
