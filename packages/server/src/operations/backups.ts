import { MAX_LISTED_BACKUPS } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { agentOf } from "../access/identity/caller.ts";
import { readBackupStates } from "../lifecycle/backups/backup-state.ts";
import { insertBackup, listBackups as list, readInstallationTimes } from "../lifecycle/backups/backup-table.ts";
import { inOwnerTransaction } from "../store/postgres/database.ts";
import { invalid } from "./input.ts";
import type { Operation } from "./operation.ts";

export const recordBackup: Operation<"recordBackup", "administration" | "keys.audit"> = async ({
  ports,
  caller,
  input,
}) => {
  const { store } = input;
  const at = Date.parse(input.at);
  const taken_at = new Date(at).toISOString();
  const { audit } = await ports.keys();
  const agent = agentOf(caller);
  const answer = await inOwnerTransaction(ports.administration, async (owner) => {
    const { created_at, now } = await readInstallationTimes(owner);
    // guard: a backup that is not taken yet makes no other one look old enough
    if (at > now) throw invalid("body/at", "must not be in the future");
    // guard: a backup of another installation is none of this one
    if (at < Math.floor(created_at))
      throw invalid(
        "body/at",
        `must not be before the installation was created, at ${new Date(created_at).toISOString()}`,
      );
    const is_new = await insertBackup(owner, { store, taken_at, actor: agent.actor });
    const recorded = { store, taken_at, is_new };
    await writeAudit(owner, audit, { ...agent, operation: "backup.record", outcome: "done", detail: recorded });
    return recorded;
  });
  return { answer };
};

export const listBackups: Operation<"listBackups", "clock" | "config" | "pool"> = async ({ ports, input }) => {
  const { pool, clock, config } = ports;
  const backups = await list(pool, MAX_LISTED_BACKUPS, input.store);
  const stores = await readBackupStates(pool, clock, config);
  return { answer: { backups: [...backups], stores: [...stores] }, audit: { detail: { count: backups.length } } };
};
