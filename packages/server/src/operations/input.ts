/** Rules of inputs that a schema does not express, and what is audited of a dry run. */
import { isReason, reasonRule } from "../audit/reason.ts";
import type { Config } from "../base/config/config.ts";
import type { Clock } from "../base/ports.ts";
import type { AuditedRead } from "./operation.ts";
import { AdminError } from "./problem.ts";

export const invalid = (where: string, detail: string): AdminError =>
  new AdminError("request-invalid", { errors: [{ where, detail }] });

/** @throws AdminError request-invalid */
export function reasonOf(text: string, { service: { reasonMinLength: minLength } }: Config): string {
  const reason = text.trim();
  if (isReason(reason, minLength)) return reason;
  throw invalid("body/reason", reasonRule(minLength));
}

/** @throws AdminError request-invalid */
export function requireFuture(where: string, date: string, clock: Clock): void {
  if (Date.parse(date) <= clock.now()) throw invalid(where, "must be after today");
}

/** A text that a person writes for others. @throws AdminError request-invalid */
export function trimmedTextOf(where: string, text: string): string {
  const written = text.trim();
  if (written === "") throw invalid(where, "must not be blank");
  return written;
}

/** The result of a dry run for the audit: a dry run is audited as a read. */
export const auditedDryRun = (read: AuditedRead = {}): { readonly audit: AuditedRead } => ({
  audit: { ...read, detail: { ...read.detail, dry_run: true } },
});
