import type { OpenConnection } from "../app/connect.ts";
import { writeAudit } from "../audit/audit.ts";
import { agentOf, type Context } from "./context.ts";

export interface AuditedRead {
  readonly operation: string;
  readonly outcome: "done" | "not-found";
  readonly account?: string | undefined;
  readonly eventId?: string | undefined;
  readonly reason?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Writes the audit entry of a read; durable when the promise resolves, so that no output appears without it. */
export async function auditRead(context: Context, { pool, clock }: OpenConnection, read: AuditedRead): Promise<void> {
  const { operation, outcome, account, eventId, reason, detail } = read;
  const entry = {
    ...agentOf(context),
    operation,
    outcome,
    ...(account !== undefined && { account }),
    ...(eventId !== undefined && { eventIds: [eventId] }),
    ...(reason !== undefined && { reason }),
    ...(detail && { detail }),
  };
  await writeAudit(pool, clock, entry);
}
