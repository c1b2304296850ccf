/** Calls operations of the admin API for commands, on a server or on the database itself. */
import {
  AdminRequestError,
  type Answer,
  createAdminClient,
  hasProgress,
  type Input,
  isLines,
  type Route,
  type RouteId,
  routeOf,
} from "@device-risk-signals/admin-api";
import { isOperatorErrorCode } from "../base/errors/codes.ts";
import { describeUnreached } from "../base/messages/unreached.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { escapeInLines } from "../base/messages/escape-controls.ts";
import type { Context } from "./context.ts";
import { findLogin, type Login } from "./login.ts";

/** Calls operations. @throws OperatorError */
export type Call = <Id extends RouteId>(id: Id, input: Input<Id>) => Promise<Answer<Id>>;

type Access = Route["access"];

/** The time limit of a request. It is long, because an export is a single request. */
const TIMEOUT_MS = 3_600_000;

/** Calls one operation: through the admin API if one is configured, otherwise on the database. */
export async function call<Id extends RouteId>(context: Context, id: Id, input: Input<Id>): Promise<Answer<Id>> {
  return withCalls(context, accessOf(id, input as object), (invoke) => invoke(id, input));
}

/**
 * Calls several operations. If they work on the database, they share one connection.
 * @param access the widest access that one of them needs.
 * @param report shows progress.
 */
export async function withCalls<T>(
  context: Context,
  access: Access,
  work: (call: Call) => Promise<T>,
  report = (line: string): void => void context.stderr.write(`${escapeInLines(line)}\n`),
): Promise<T> {
  const login = findLogin(context);
  if (login) return work(callAdminApi(context, login, report));
  // Imported only for a command on the database, so that the other commands start sooner.
  const { withCallsOnDatabase } = await import("./call-on-database.ts");
  return withCallsOnDatabase(context, access, work, report);
}

/** A dry run only reads, so it works on a standby. */
export const accessOf = (id: RouteId, input: { readonly dry_run?: unknown }): Access =>
  input.dry_run === true ? "read" : routeOf(id).access;

/** Calls operations through the admin API. A change that a worker applies continues if this command ends first. */
export function callAdminApi(
  { onInterrupt, stderr }: Context,
  login: Login,
  report: (line: string) => void,
  timeoutMs = TIMEOUT_MS,
): Call {
  const { url } = login;
  let changing: RouteId | undefined;
  onInterrupt(() => {
    if (changing) stderr.write(`${routeOf(changing).operation} continues: check whether it took effect.\n`);
  });
  const client = createAdminClient({ ...login, timeoutMs, onProgress: report });
  return async <Id extends RouteId>(id: Id, input: Input<Id>): Promise<Answer<Id>> => {
    changing = hasProgress(routeOf(id)) && accessOf(id, input as object) === "change" ? id : undefined;
    const answer = await client
      .call(id, input)
      .catch((error: unknown) => {
        throw error instanceof AdminRequestError ? errorOfAnswer(error) : unreachableError(error, url);
      })
      .finally(() => (changing = undefined));
    return isLines(routeOf(id).answer)
      ? (requireWholeAnswer(answer as AsyncIterable<unknown>, url) as unknown as Answer<Id>)
      : answer;
  };
}

async function* requireWholeAnswer(lines: AsyncIterable<unknown>, url: string): AsyncGenerator {
  try {
    yield* lines;
  } catch (cause) {
    throw new OperatorError("dependency-unavailable", `The admin API at ${url} did not answer to the end.`, { cause });
  }
}

/** The error for a problem of the admin API. Its exit code is the one that the operation has on the database. */
function errorOfAnswer(error: AdminRequestError): OperatorError {
  const { status, problem, message } = error;
  if (problem?.code !== undefined && isOperatorErrorCode(problem.code)) {
    return new OperatorError(problem.code as "not-found", message, { cause: error });
  }
  const cure = status === 401 ? "\nSign in with drs login, or set DRS_ADMIN_TOKEN." : "";
  return errorOfStatus(status, message + cure, error);
}

/**
 * The error for the status of a problem without a code of the registry. The status 400 is wrong usage, because the
 * input comes from options of the command.
 */
export function errorOfStatus(status: number, message: string, error: unknown): OperatorError {
  if (status === 401 || status === 403) return new OperatorError("access-denied", message, { cause: error });
  if (status === 400) return new OperatorError("wrong-usage", message, { cause: error });
  if (status === 503 || status === 429) return new OperatorError("dependency-unavailable", message, { cause: error });
  return new OperatorError("unexpected-error", message, { cause: error });
}

/** Error codes of `fetch` if an answer does not come in time. */
const TIMEOUT_CODES = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

export function unreachableError(error: unknown, url: string): OperatorError {
  const { code = "" } = ((error as Error).cause ?? {}) as { readonly code?: string };
  const isLate = (error instanceof DOMException && error.name === "TimeoutError") || TIMEOUT_CODES.has(code);
  const why = isLate ? "gave no answer in time, and may still be working" : describeUnreached(code);
  return new OperatorError("dependency-unavailable", `The admin API at ${url} ${why}.`, { cause: error });
}
