import type { Clock } from "../../ports.ts";
import type { Pseudonymizer } from "../../crypto/pseudonymizer.ts";
import { writeAudit } from "../../audit/audit.ts";
import { type Executor, inOneTransaction } from "../../postgres/database.ts";
import { instant } from "../../postgres/instant.ts";
import { groupByPartition } from "../../events/partition-slices.ts";
import { excludeIngestion } from "../../events/exclude-ingestion.ts";
import { type ErasureRow, findErasures } from "./erasures.ts";
import { insertTombstones, type LedgerRow } from "../../events/tombstones.ts";

/** Ledger rows that are processed together. */
const BATCH = 5_000;

export interface FinishPorts {
  readonly names: Pseudonymizer;
  readonly clock: Clock;
  /** Signs what was done. @param at when: RFC 3339, as the database records it. @returns a JWS. */
  readonly attest: (erasure: ErasureRow, at: string) => Promise<string>;
  readonly signal?: AbortSignal;
}

interface ErasedKey {
  readonly key_id: string;
  readonly account: string;
}

/**
 * Turns the ledger of erased keys, whose secrets are destroyed, into tombstones and deletes their rows, in batches. What was
 * begun and not finished, because somebody was killed, goes on here; nothing is done twice.
 *
 * @param executor one connection, in no transaction.
 */
export async function finishErasures(executor: Executor, ports: FinishPorts): Promise<void> {
  const { rows: keys } = await executor.query<ErasedKey>(
    "select key_id, account from account_key where erased_by is not null order by erased_by",
  );
  for (const key of keys) {
    await deleteErased(executor, ports, key);
    await executor.query("select delete_account_key($1)", [key.key_id]);
    if (ports.signal?.aborted) return;
  }
  await finishOpen(executor, ports);
  await completeHeld(executor, ports);
}

async function finishOpen(executor: Executor, ports: FinishPorts): Promise<void> {
  const open = await findErasures(executor, { unfinished: true });
  for (const erasure of open) {
    const { sequence, kind, subject_mac, actor, reason } = erasure;
    await inOneTransaction(executor, async () => {
      const receipt = await ports.attest(erasure, await transactionTime(executor));
      const detail = { sequence, kind, subject_mac };
      // guard(drop): the audit says that an erasure is done
      // fails: e2e/erasure.test.ts › it is finished by the next, once
      await writeAudit(executor, ports.clock, { actor, operation: "erase.run", outcome: "done", reason, detail });
      await executor.query("select finish_erasure($1, $2)", [sequence, receipt]);
    });
  }
}

/**
 * Signs a final receipt when the last copy that a hold kept is deleted: only then it is known when backups hold
 * nothing.
 */
async function completeHeld(executor: Executor, { attest }: FinishPorts): Promise<void> {
  for (const erasure of await findErasures(executor, { waitedForHold: true })) {
    await inOneTransaction(executor, async () => {
      const receipt = await attest(erasure, await transactionTime(executor));
      await executor.query("select complete_erasure($1, $2)", [erasure.sequence, receipt]);
    });
  }
}

/** The instant that functions of this transaction record. */
async function transactionTime(executor: Executor): Promise<string> {
  const { rows } = await executor.query<{ at: string }>(`select ${instant("now()", "at")}`);
  if (!rows[0]) throw new Error("the database gave no row");
  return rows[0].at;
}

/**
 * Deletes events with their ledger rows. Tombstones exist before the ledger's rows go, and no commit batch is under way
 * that has not seen them.
 */
async function deleteErased(executor: Executor, { names, signal }: FinishPorts, key: ErasedKey): Promise<void> {
  const text = `select account, key, event_id, request_mac, purpose, received_at from idempotency_key
    where account = $1 and key_id = $2 limit ${BATCH}`;
  for (;;) {
    if (signal?.aborted) return;
    const { rows } = await executor.query<LedgerRow & { purpose: number; received_at: string }>(text, [
      key.account,
      key.key_id,
    ]);
    if (rows.length === 0) return;
    // guard(drop): tombstones exist before the ledger rows are deleted
    // fails: e2e/erasure.test.ts › is gone: events
    await insertTombstones(executor, names, rows);
    await inOneTransaction(executor, async () => {
      // guard(drop): no batch is left that has not seen the tombstones
      // fails: e2e/erasure.test.ts › the ledger goes when
      await excludeIngestion(executor);
    });
    // A partition at a time: the locks of one transaction stay few.
    const groups = [...(await groupByPartition(executor, rows)).values()];
    for (const group of groups) await deleteRows(executor, key, group);
    const grouped = new Set(groups.flat());
    await deleteRows(
      executor,
      key,
      rows.filter((row) => !grouped.has(row)),
    );
  }
}

async function deleteRows(executor: Executor, key: ErasedKey, rows: readonly LedgerRow[]): Promise<void> {
  if (rows.length > 0) await executor.query("select delete_erased($1, $2)", [key.key_id, rows.map((row) => row.key)]);
}
