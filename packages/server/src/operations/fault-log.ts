import type { Logger } from "pino";
import { sqlState } from "../store/database.ts";

/** The same fault in a row is logged once a second at most: a database that is away must not fill the disk. */
const EVERY_MS = 1_000;

/**
 * Logs faults without what they may quote: a class, a code, our own message; of PostgreSQL's errors only the SQLSTATE
 * and the constraint, because their texts may hold a row's values.
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

function describe(fault: unknown): Record<string, unknown> {
  if (!(fault instanceof Error)) return { name: typeof fault };
  const state = sqlState(fault);
  const cause = fault.cause === undefined ? {} : { cause: describe(fault.cause) };
  if (state !== undefined) {
    const { constraint } = fault as { constraint?: string };
    return { name: "DatabaseError", sqlState: state, ...(constraint !== undefined && { constraint }), ...cause };
  }
  const { code } = fault as NodeJS.ErrnoException;
  return { name: fault.name, ...(code !== undefined && { code }), message: fault.message, at: place(fault), ...cause };
}

function place(fault: Error): string | undefined {
  return fault.stack
    ?.split("\n")
    .find((line) => line.trimStart().startsWith("at "))
    ?.trim();
}
