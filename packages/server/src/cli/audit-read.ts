import { OperatorError } from "../errors/operator-error.ts";
import type { System } from "../app/system.ts";
import { writeAudit } from "../audit/audit.ts";
import { sqlState } from "../postgres/errors.ts";
import { type Context, operatorOf } from "./context.ts";

/** `read_only_sql_transaction`: how a standby refuses to write. */
const READ_ONLY = "25006";

export interface AuditedRead {
  readonly operation: string;
  readonly outcome: "done" | "not-found";
  readonly account?: string | undefined;
  readonly eventId?: string | undefined;
  readonly reason?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Writes the audit entry of a read; durable when the promise resolves, so that nothing is handed out without it.
 * @throws primary-needed on a standby, which can't keep it.
 */
export async function auditRead(context: Context, { pool, clock }: System, read: AuditedRead): Promise<void> {
  const { operation, outcome, account, eventId, reason, detail } = read;
  const entry = {
    actor: operatorOf(context),
    operation,
    outcome,
    ...(account !== undefined && { account }),
    ...(eventId !== undefined && { eventId }),
    ...(reason !== undefined && { reason }),
    ...(detail && { detail }),
  };
  await writeAudit(pool, clock, entry).catch((cause: unknown) => {
    if (sqlState(cause) !== READ_ONLY) throw cause;
    throw new OperatorError(
      "primary-needed",
      "This database is a read-only standby. Reads are audited, and the audit is on the primary: name it in DRS_DATABASE_URL.",
      { cause },
    );
  });
}
