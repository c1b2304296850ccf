import type { Logger } from "pino";
import { sqlState } from "../postgres/database.ts";
import { ownMessage } from "../messages/own-message.ts";

/** The same fault in a row is logged once a second at most: a database that is away must not fill the disk. */
const EVERY_MS = 1_000;

/**
 * Logs faults without what they may quote: a class, a code, and the message where it is our own (`ownMessage`); of
 * PostgreSQL's errors only the SQLSTATE and the constraint, because their texts may hold a row's values.
 */
export function faultLog(logger: Logger): (fault: unknown) => void {
  const last = new Map<string, { at: number; withheld: number }>();
  return (fault) => {
    const described = describe(fault);
    const name = JSON.stringify(described);
    const now = Date.now();
    const before = last.get(name);
    if (before && now - before.at < EVERY_MS) {
      before.withheld++;
      return;
    }
    if (last.size > 100) last.clear();
    last.set(name, { at: now, withheld: 0 });
    logger.error({ fault: described, ...(before?.withheld ? { withheld: before.withheld } : {}) }, "fault");
  };
}

const SQL_STATE = /^[0-9A-Z]{5}$/;
const CONSTRAINT = /^[a-z\d_]{1,63}$/;

function describe(fault: unknown): Record<string, unknown> {
  if (!(fault instanceof Error)) return { name: typeof fault };
  const state = sqlState(fault);
  const cause = fault.cause === undefined ? {} : { cause: describe(fault.cause) };
  if (state !== undefined) {
    const { constraint = "" } = fault as { constraint?: string };
    return {
      name: "DatabaseError",
      ...(SQL_STATE.test(state) && { sqlState: state }),
      ...(CONSTRAINT.test(constraint) && { constraint }),
      ...cause,
    };
  }
  const { code } = fault as NodeJS.ErrnoException;
  const message = ownMessage(fault);
  return {
    name: fault.name,
    ...(typeof code === "string" && { code }),
    ...(message !== undefined && { message }),
    at: place(fault),
    ...(fault instanceof AggregateError && { errors: fault.errors.map(describe) }),
    ...cause,
  };
}

/** Where the error was made. In `stack` the message precedes the frames, and a line of it may look like a frame. */
function place({ stack = "", message }: Error): string | undefined {
  const from = stack.indexOf(message);
  if (from === -1) return undefined;
  const frames = stack.slice(from + message.length).split("\n");
  return frames.find((line) => line.trimStart().startsWith("at "))?.trim();
}
