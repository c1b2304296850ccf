import type { Caller } from "../access/identity/caller.ts";
import type { Clock } from "../base/ports.ts";
import { AdminError } from "./problem.ts";

/** 5 minutes. */
const RECENT_MS = 300_000;
/** The clock of the identity provider may be ahead by this much. */
const AHEAD_MS = 60_000;

/** Whether a person signed in recently. @param at, now milliseconds since the Unix epoch. */
export function isRecent(at: number, now: number): boolean {
  const age = now - at;
  // guard(right): a sign-in in the future would stay recent for long
  return age >= -AHEAD_MS && age <= RECENT_MS;
}

/**
 * Requires a recent sign-in, so that a session that was stolen earlier can neither decide about an approval nor call an
 * operation that erases, exports or destroys. A command on the database has no session. @throws AdminError
 * step-up-required
 */
export function requireRecentSignIn({ via, session }: Caller, clock: Clock): void {
  if (via === "direct") return;
  const at = session?.authenticatedAt ?? undefined;
  // guard(false): an operation that needs a recent proof refuses an older one
  if (at === undefined || !isRecent(Date.parse(at), clock.now())) throw new AdminError("step-up-required");
}
