/** The option of commands on the database that also read events which are excluded from analysis. */
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { findLogin } from "./login.ts";

export interface RestrictedReads {
  readonly includeRestricted?: boolean;
  readonly reason?: string;
}

export const INCLUDE_RESTRICTED = [
  "--include-restricted",
  "also events that are excluded from analysis; needs --reason; only on the database",
] as const;

/**
 * The context of a read. Only a few reasons allow a read of restricted events (GDPR, article 18 (2)), so each states one
 * for the audit. Through the admin API, the role `privacy` sees the attributes of restricted events, and no operation
 * opens one.
 */
export function contextOf(context: Context, options: RestrictedReads, self: Command): Context {
  const { includeRestricted = false, reason } = options;
  // guard(false): a read of restricted events has a reason
  if (includeRestricted && reason === undefined) self.error("error: --include-restricted needs --reason");
  if (includeRestricted && findLogin(context)) self.error("error: --include-restricted works only on the database");
  return { ...context, includeRestricted, ...(reason !== undefined && { reason }) };
}
