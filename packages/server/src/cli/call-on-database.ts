/** Calls operations for commands on the database itself. */
import {
  type Answer,
  describeProblem,
  type Input,
  type Route,
  type RouteId,
  routeOf,
} from "@device-risk-signals/admin-api";
import { callOperation } from "../operations/operations.ts";
import { type AdminPorts, portsOn } from "../operations/ports.ts";
import { AdminError } from "../operations/problem.ts";
import { writeAudit } from "../audit/audit.ts";
import { hasCode } from "../base/errors/operator-error.ts";
import { agentOf as agentOfCaller, type Caller } from "../access/identity/caller.ts";
import { mayBreakGlass, signBreakGlassCheckpoint, requireBreakGlassForCall } from "./break-glass.ts";
import { type Call, errorOfStatus } from "./call.ts";
import { withConnection } from "./connection.ts";
import { agentOf, type Context } from "./context.ts";

/** Calls several operations on one connection. */
export const withCallsOnDatabase = <T>(
  context: Context,
  access: Route["access"],
  work: (call: Call) => Promise<T>,
  report: (line: string) => void,
): Promise<T> =>
  withConnection(context, access, (connection) => work(onDatabase(context, portsOn(connection, report))));

function onDatabase(context: Context, ports: AdminPorts): Call {
  const agent = agentOf(context);
  const { includeRestricted = false } = context;
  const caller: Caller = { ...agent, person: agent.actor, roles: [], includeRestricted };
  return async <Id extends RouteId>(id: Id, input: Input<Id>): Promise<Answer<Id>> => {
    requireBreakGlassForCall(context, id, input as object);
    let isRefused = false;
    try {
      const { answer, audit } = await callOperation(id, { ports, caller, scope: "full", input }).catch(
        (error: unknown) => {
          // On a database that lacks entries of the journal, the operation does nothing, and no checkpoint is signed.
          isRefused = hasCode(error, "replay-needed");
          return asOperatorError(error);
        },
      );
      const { operation: name, access } = routeOf(id);
      if (audit && access === "audited-read") {
        const entry = { ...agentOfCaller(caller), operation: name, outcome: "done" };
        await writeAudit(ports.pool, (await ports.keys()).audit, { ...entry, ...audit });
      }
      return answer;
    } finally {
      // An operation that failed may also have written audit entries.
      if (mayBreakGlass(id, input as object) && !isRefused) await signBreakGlassCheckpoint(context, ports.installation);
    }
  };
}

function asOperatorError(error: unknown): never {
  if (!(error instanceof AdminError)) throw error;
  throw errorOfStatus(error.problem.status, describeProblem(error.problem), error);
}
