import type { Answer } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import {
  type BackfillRow,
  changeBackfill,
  listBackfills as list,
  startBackfill as start,
} from "../features/backfill-runs.ts";
import { agentOf } from "../access/identity/caller.ts";
import { uuidv7 } from "../base/identifiers/uuidv7.ts";
import { requirePurposeCode } from "../purposes/policy-table.ts";
import { inTransaction } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { reasonOf } from "./input.ts";
import type { AuditPorts } from "./audit-around.ts";
import type { Operation, OperationCall } from "./operation.ts";

const LIMIT = 50;

type StartPorts = "clock" | "config" | AuditPorts;

export const startBackfill: Operation<"startBackfill", StartPorts> = async ({ ports, caller, input }) => {
  const { purpose, layer, from, to, rate } = input;
  const reason = reasonOf(input.reason, ports.config);
  const agent = agentOf(caller);
  const { audit } = await ports.keys();
  const code = await requirePurposeCode(ports.pool, purpose);
  const runId = uuidv7(ports.clock.now());
  const answer = await inTransaction(ports.pool, async (transaction) => {
    const layers = await start(transaction, {
      runId,
      purpose: { code, id: purpose },
      ...(layer !== undefined && { layer }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(rate !== undefined && { rate }),
      actor: agent.actor,
      reason,
    });
    const detail = { run_id: runId, purpose, layers, from, to, rate };
    await writeAudit(transaction, audit, { ...agent, operation: "backfill.start", outcome: "done", reason, detail });
    return readOne(transaction, runId);
  });
  return { answer };
};

export const listBackfills: Operation<"listBackfills", "pool"> = async ({ ports, input }) => {
  const { limit = LIMIT, run_id } = input;
  if (run_id !== undefined)
    return { answer: { backfills: [await readOne(ports.pool, run_id)] }, audit: { detail: { run_id } } };
  const backfills = (await list(ports.pool, limit)).map(shown);
  return { answer: { backfills }, audit: { detail: { count: backfills.length } } };
};

export const pauseBackfill: Operation<"pauseBackfill", AuditPorts> = (call) => change(call, "paused", "backfill.pause");
export const resumeBackfill: Operation<"resumeBackfill", AuditPorts> = (call) =>
  change(call, "running", "backfill.resume");
export const cancelBackfill: Operation<"cancelBackfill", AuditPorts> = (call) =>
  change(call, "cancelled", "backfill.cancel");

type Change = OperationCall<"pauseBackfill" | "resumeBackfill" | "cancelBackfill", AuditPorts>;

async function change(
  { ports, caller, input: { run_id } }: Change,
  state: Parameters<typeof changeBackfill>[2],
  operation: string,
) {
  const { audit } = await ports.keys();
  const answer = await inTransaction(ports.pool, async (transaction) => {
    await changeBackfill(transaction, run_id, state);
    await writeAudit(transaction, audit, { ...agentOf(caller), operation, outcome: "done", detail: { run_id } });
    return readOne(transaction, run_id);
  });
  return { answer };
}

async function readOne(executor: Executor, runId: string) {
  const [row] = await list(executor, 1, runId);
  if (!row) throw new OperatorError("not-found", `There is no backfill ${runId}.`);
  return shown(row);
}

const shown = ({ layers, balance, balances, ...run }: BackfillRow): Answer<"startBackfill"> => ({
  ...run,
  layers: [...layers],
  balance: { ...balance },
  balances: [...balances],
});
