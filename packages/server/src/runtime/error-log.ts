import type { Logger } from "pino";
import type { OperatorErrorCode } from "../base/errors/codes.ts";
import type { Dependencies } from "../base/dependencies/dependencies.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { safeMessage } from "../base/messages/own-message.ts";
import { type OnError, Unavailable } from "../base/ports.ts";
import { constraintOf, isTransient, sqlState, translateDriverError } from "../store/postgres/errors.ts";

/** A repeated error is logged at most once a second, so that a database outage does not fill the disk. */
const MIN_INTERVAL_MS = 1_000;

/**
 * Logs which operation failed, with a code of the registry and a description of the error and of its causes. The
 * description has the error's class, code and position in the source, and the message only if `safeMessage` allows it.
 * An error of PostgreSQL is described only by the SQLSTATE and the constraint, because its text may contain values of a
 * row.
 * @param dependencies whose outages are logged elsewhere. While one of them is down, errors of outages are logged only
 * at the level `debug`.
 */
export function createErrorLog(logger: Logger, dependencies?: Dependencies): OnError {
  const loggedLines = new Map<string, { at: number; withheld: number }>();
  const log: OnError = (error, operation) => {
    const line = { code: codeOf(error), operation, error: describe(error) };
    const name = JSON.stringify(line);
    const now = Date.now();
    const before = loggedLines.get(name);
    if (before && now - before.at < MIN_INTERVAL_MS) {
      before.withheld++;
      return;
    }
    if (loggedLines.size > 100) loggedLines.clear();
    loggedLines.set(name, { at: now, withheld: 0 });
    logger.error({ ...line, ...(before?.withheld ? { withheld: before.withheld } : {}) }, `${operation} failed`);
  };
  if (!dependencies) return log;
  const logOutage = async (cause: unknown, operation: string): Promise<void> => {
    // The error may arrive before a monitor has noticed the outage.
    await dependencies.check();
    const isKnown = dependencies.health.some(({ problems }) => problems.length > 0);
    // guard: an outage is one line of the log, and not one for each call that it fails
    if (isKnown) logger.debug({ operation, error: describe(cause) }, `${operation} failed`);
    else log(cause, operation);
  };
  return (error, operation) => (isOfOutage(error) ? void logOutage(error, operation) : log(error, operation));
}

const isOfOutage = (error: unknown): boolean =>
  (error instanceof Unavailable && error.code.startsWith("dependency-")) ||
  isTransient(error) ||
  (error instanceof AggregateError && error.errors.every(isOfOutage));

function codeOf(error: unknown): OperatorErrorCode {
  if (error instanceof OperatorError) return error.code;
  const several = error instanceof AggregateError ? "several-errors" : "unexpected-error";
  return translateDriverError(error)?.code ?? several;
}

const SQL_STATE = /^[0-9A-Z]{5}$/;
const CONSTRAINT_NAME = /^[a-z\d_]{1,63}$/;

function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const state = sqlState(error);
  const cause = error.cause === undefined ? {} : { cause: describe(error.cause) };
  if (state !== undefined) {
    const constraint = constraintOf(error) ?? "";
    return {
      name: "DatabaseError",
      ...(SQL_STATE.test(state) && { sqlState: state }),
      ...(CONSTRAINT_NAME.test(constraint) && { constraint }),
      ...cause,
    };
  }
  const { code } = error as NodeJS.ErrnoException;
  const message = safeMessage(error);
  return {
    name: error.name,
    ...(typeof code === "string" && { code }),
    ...(message !== undefined && { message }),
    at: sourcePositionOf(error),
    ...(error instanceof AggregateError && { errors: error.errors.map(describe) }),
    ...cause,
  };
}

/**
 * The source position at which the error was created. It is searched after the message, because a line of the message
 * may look like a frame of the stack.
 */
function sourcePositionOf({ stack = "", message }: Error): string | undefined {
  const from = stack.indexOf(message);
  if (from === -1) return undefined;
  const frames = stack.slice(from + message.length).split("\n");
  return frames.find((line) => line.trimStart().startsWith("at "))?.trim();
}
