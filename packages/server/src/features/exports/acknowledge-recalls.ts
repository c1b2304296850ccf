import { type Agent, writeAudit } from "../../audit/audit.ts";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { inOwnerTransaction, type OwnerDatabase } from "../../store/postgres/database.ts";
import { acknowledgeRecalls, findRecalls, isOpen } from "./recalls.ts";

/**
 * Records that the recipient has deleted the recalled rows of an export.
 * @returns the number of recalls. @throws state-conflict if none is open.
 */
export function acknowledgeOpenRecalls(
  { administration, audit }: { readonly administration: OwnerDatabase; readonly audit: AuditSigner },
  exportId: string,
  { reason, ...agent }: Agent & { readonly reason: string },
): Promise<number> {
  return inOwnerTransaction(administration, async (owner) => {
    const open = (await findRecalls(owner, { exportId })).filter(isOpen);
    // guard(false): an export without an open recall has nothing to acknowledge
    if (open.length === 0) throw new OperatorError("state-conflict", `Export ${exportId} has no open recall.`);
    const sequences = open.map(({ sequence }) => sequence);
    await acknowledgeRecalls(owner, exportId, sequences, { actor: agent.actor, reason });
    const entry = { ...agent, operation: "export.acknowledge", outcome: "done", reason };
    await writeAudit(owner, audit, { ...entry, references: { export_id: exportId } });
    return open.length;
  });
}
