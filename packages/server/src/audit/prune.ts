/** The retention of the audit: entries before a checkpoint are deleted, and hashes represent them. */
import { OperatorError } from "../base/errors/operator-error.ts";
import type { OwnerTransaction } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { query, sql } from "../store/postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { type Agent, writeAudit } from "./audit.ts";
import { type Change, findLastChange, keysEntry } from "./surface-keys.ts";
import type { EpochCheckpoint } from "./log/epoch.ts";
import { PRUNE_OPERATION } from "./log/epoch.ts";
import { hasOpenReviewBefore } from "./review-table.ts";

export interface PruneOptions {
  readonly agent: Agent;
  readonly retentionMs: number;
  /** The latest checkpoint of each sink, or `undefined` for a sink that has none. */
  readonly kept: readonly (EpochCheckpoint | undefined)[];
}

export interface Pruned {
  readonly entries: number;
  /** The checkpoint after which the log starts: its epoch, size and time. */
  readonly epoch: number;
  readonly size: number;
  readonly at: string;
}

const FIND_BOUNDARY = sql(
  `select epoch, size, ${instant("at")} from audit_checkpoint
    -- guard(true): entries are kept for the retention period
    where at + $1::interval <= transaction_time()
    order by epoch desc, size desc limit 1`,
  ["interval"],
  { epoch: "int4", size: "int8", at: "text" },
);

const COUNT_BEFORE = sql(
  "select count(*) as entries from audit_leaf where (epoch, leaf) < ($1, $2)",
  ["int4", "int8"],
  { entries: "int8" },
);

const DELETE_ENTRIES = sql(
  "delete from audit_entry e using audit_leaf l where l.entry_id = e.entry_id and (l.epoch, l.leaf) < ($1, $2)",
  ["int4", "int8"],
);
const DELETE_LEAVES = sql("delete from audit_leaf where (epoch, leaf) < ($1, $2)", ["int4", "int8"]);
const DELETE_CHECKPOINTS = sql("delete from audit_checkpoint where (epoch, size) < ($1, $2)", ["int4", "int8"]);

/**
 * Deletes entries, leaves and checkpoints before the latest checkpoint that is older than the retention period. It
 * writes an entry about this, because verifiers report missing leaves without such an entry.
 * @returns `undefined` if no entry is that old. @throws state-conflict
 */
export async function pruneLog(
  owner: OwnerTransaction,
  signer: AuditSigner,
  { agent, retentionMs, kept }: PruneOptions,
): Promise<Pruned | undefined> {
  const [boundary] = (await query(owner, FIND_BOUNDARY, [`${retentionMs} milliseconds`])).rows;
  if (!boundary) return undefined;
  const { epoch, size, at } = boundary;
  const [before] = (await query(owner, COUNT_BEFORE, [epoch, size])).rows;
  if (!before || before.entries === 0) return undefined;
  // guard(false): no entry is deleted while its review is open
  if (await hasOpenReviewBefore(owner, signer, { epoch, leaf: size })) {
    throw conflict("an entry of that time is under review: drs review list");
  }
  // guard(false): the checkpoint from which the log starts is kept outside
  if (kept.some((one) => !one || one.epoch < epoch || (one.epoch === epoch && one.size < size))) {
    throw conflict("a sink does not have the checkpoint after which the log would start: drs audit verify");
  }
  const references = { epoch: String(epoch), size: String(size) };
  await writeAudit(owner, signer, { ...agent, operation: PRUNE_OPERATION, outcome: "done", references });
  const lastKeyChange = await findLastChange(owner, signer);
  // guard(false): the log says which MAC keys were active at its start
  if (lastKeyChange && isBefore(lastKeyChange, { epoch, size }))
    await writeAudit(owner, signer, keysEntry(lastKeyChange.ids, lastKeyChange.ids));
  await query(owner, DELETE_ENTRIES, [epoch, size]);
  await query(owner, DELETE_LEAVES, [epoch, size]);
  await query(owner, DELETE_CHECKPOINTS, [epoch, size]);
  return { entries: before.entries, epoch, size, at };
}

const isBefore = ({ epoch, leaf }: Change, start: Pick<Pruned, "epoch" | "size">): boolean =>
  epoch !== null && leaf !== null && (epoch < start.epoch || (epoch === start.epoch && leaf < start.size));

const conflict = (why: string): OperatorError => new OperatorError("state-conflict", `Nothing was deleted: ${why}.`);
