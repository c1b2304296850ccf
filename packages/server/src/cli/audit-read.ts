import type { Installation } from "../runtime/open-installation.ts";
import { writeAudit } from "../audit/audit.ts";
import { requireReplayed } from "../lifecycle/recovery/compare-with-journal.ts";
import { agentOf, type Context, withInstallation } from "./context.ts";

export interface AuditedRead {
  readonly operation: string;
  readonly outcome: "done" | "not-found";
  readonly account?: string | undefined;
  readonly eventId?: string | undefined;
  readonly reason?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Writes the audit entry of a read. The entry is durable when the promise resolves, so that no output appears without
 * it.
 */
export async function auditRead(
  context: Context,
  { pool, audit }: Pick<Installation, "pool" | "audit">,
  read: AuditedRead,
): Promise<void> {
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
  await writeAudit(pool, audit, entry);
}

/**
 * Runs work only if the database has applied every entry of the journal. Otherwise a restored database could show
 * events that were erased after the backup was made.
 */
export function withJournalApplied<T>(
  context: Context,
  work: (installation: Installation) => Promise<T>,
  access: "audited-read" | "change" = "audited-read",
): Promise<T> {
  return withInstallation(context, access, async (installation) => {
    // guard(drop): a restored database shows no event before the replay
    await requireReplayed({ ...installation, executor: installation.pool }, "head");
    return work(installation);
  });
}
