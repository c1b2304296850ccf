import type { Caller } from "../../identity/caller.ts";
import type { Clock } from "../../ports.ts";
import { AdminError } from "./problem.ts";

/** 5 minutes. */
export const RECENT_MS = 300_000;

/**
 * Requires a recent sign-in, so that a session that was stolen earlier can neither decide about an approval nor call an
 * operation that erases, exports or destroys. A command on the database has no session. @throws AdminError
 * step-up-required
 */
export function requireRecentSignIn({ via, session }: Caller, clock: Clock): void {
  if (via === "direct") return;
  const at = session?.authenticatedAt ?? undefined;
  // guard(false): an operation that needs a recent proof refuses an older one
  // fails: packages/server/src/admin/operations/recent-sign-in.test.ts › refused
  if (at === undefined || clock.now() - Date.parse(at) > RECENT_MS) throw new AdminError("step-up-required");
}
