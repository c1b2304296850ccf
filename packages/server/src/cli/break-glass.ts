/**
 * The rule that commands which read payloads or destroy data on an external database use the admin API, or
 * `--break-glass`.
 */
import type { RouteId } from "@device-risk-signals/admin-api";
import { routeOf } from "@device-risk-signals/admin-api";
import { Option } from "commander";
import type { CheckpointParts } from "../runtime/audit-log.ts";
import { needsBreakGlass } from "../operations/needs-break-glass.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { type Context, loadConfig } from "./context.ts";
import { findLogin } from "./login.ts";

export interface BreakGlassOptions {
  readonly breakGlass?: boolean;
}

export const breakGlassOption = (): Option =>
  new Option("--break-glass", "on an external database, without the admin API; opens a review");

/**
 * The context in which a command may read payloads or destroy data: through the admin API, on the embedded database, or
 * with `--break-glass`.
 * @throws wrong-usage with advice
 */
export function requireBreakGlass(context: Context, { breakGlass = false }: BreakGlassOptions): Context {
  const isDirect = findLogin(context) === undefined;
  if (!isDirect && breakGlass) {
    throw new OperatorError(
      "wrong-usage",
      "--break-glass works on the database, and an admin API is configured: leave the option out, or unset DRS_ADMIN_URL and run drs logout.",
    );
  }
  if (!isDirect || loadConfig(context).embedded) return context;
  if (!breakGlass) throw needsBreakGlass();
  return { ...context, isBreakGlass: true };
}

/** Whether the call may read payloads or destroy data, as its route declares. */
export const mayBreakGlass = (id: RouteId, { dry_run }: { readonly dry_run?: unknown }): boolean =>
  routeOf(id).breakGlass !== undefined && dry_run !== true;

/** Applies the rule of `requireBreakGlass` to one call of a command on the database. @throws wrong-usage */
export function requireBreakGlassForCall(
  { isBreakGlass = false, ...context }: Context,
  id: RouteId,
  input: object,
): void {
  const isDenied = !isBreakGlass && routeOf(id).breakGlass === true && mayBreakGlass(id, input);
  // guard(drop): a command that reads payloads or destroys data needs --break-glass
  if (isDenied && !loadConfig(context).embedded) throw needsBreakGlass();
}

/**
 * Signs a checkpoint over the audit entries that a command with `--break-glass` has written. If it can't be signed, or
 * a sink can't store it, the command prints a message and continues.
 */
export async function signBreakGlassCheckpoint(
  { isBreakGlass = false, stderr }: Context,
  findInstallation: () => Promise<CheckpointParts>,
): Promise<void> {
  if (!isBreakGlass) return;
  const { checkpointNow } = await import("../runtime/audit-log.ts");
  const errors = await findInstallation()
    .then(checkpointNow)
    .catch((error: unknown) => [error]);
  for (const error of errors) {
    const why = error instanceof OperatorError ? `: ${error.message}` : "";
    stderr.write(`The audit has no checkpoint of this command yet${why}.\n`);
  }
}
