import { describeReplayed, recover, type RecoveryParts, type ReplayParts } from "../runtime/recover.ts";
import { type ErasureParts, erasurePorts } from "../runtime/lifecycle-ports.ts";
import { type Agent, writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import { listRuns, countOverdueRows, readRetentionState } from "../lifecycle/retention/run-table.ts";
import { describeFailed, errorOf, runSteps } from "../lifecycle/retention/steps.ts";
import { type Pass, runRetention as runPass } from "../lifecycle/retention-worker.ts";
import type { Operation } from "./operation.ts";

const MAX_SHOWN_RUNS = 20;

export const readRetention: Operation<"readRetention", "pool"> = async ({ ports: { pool } }) => {
  const [state, overdue_rows, runs] = await Promise.all([
    readRetentionState(pool),
    countOverdueRows(pool),
    listRuns(pool, MAX_SHOWN_RUNS),
  ]);
  return { answer: { ...state, overdue_rows, runs: [...runs] }, audit: { detail: { count: runs.length } } };
};

export const readOverdue: Operation<"readOverdue", "pool"> = async ({ ports: { pool } }) => {
  const { overdue_partitions } = await readRetentionState(pool);
  const answer = { overdue_partitions, overdue_rows: await countOverdueRows(pool) };
  return { answer, audit: { detail: answer } };
};

type Parts = ErasureParts & RecoveryParts & ReplayParts;
type RunPorts = "report" | `installation.${keyof Parts}`;

export const runRetention: Operation<"runRetention", RunPorts> = async ({ ports, caller }) => {
  const agent = agentOf(caller);
  const installation = await ports.installation();
  // A pass of a command, like a pass of a server, replays the journal before it deletes anything.
  // guard(drop): a pass on a restored database replays first
  for (const line of describeReplayed(await recover(installation))) ports.report(line);
  const pass = await runPass({ ...erasurePorts(installation), database: installation.database, actor: agent.actor });
  await auditPass(installation, agent, pass);
  if (pass?.expired) {
    const { destroyed_keys, ...counts } = pass.expired;
    return { answer: { ...counts, destroyed_keys: [...destroyed_keys] } };
  }
  throw new OperatorError(
    "pass-running",
    "A pass is under way, by a server or another command: see drs retention status.",
  );
};

/**
 * Writes the audit entry of a pass.
 * @throws AggregateError with the errors of the pass, and with the error of an audit entry that could not be written.
 */
async function auditPass({ pool, audit }: Parts, agent: Agent, pass: Pass | undefined): Promise<void> {
  const failed = pass?.failed ?? [];
  const outcome = failed.length > 0 ? "failed" : pass ? "done" : "refused";
  const detail = { ...pass?.expired, ...(failed.length > 0 && { failed: describeFailed(failed) }) };
  const entry = { ...agent, operation: "retention.run", outcome, detail };
  const run = async (): Promise<void> => void (await writeAudit(pool, audit, entry));
  const allErrors = [...failed, ...(await runSteps([{ name: "write the audit entry", run }]))];
  if (allErrors.length > 0) throw errorOf(allErrors);
}
