import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { writeAudit } from "../../audit/audit.ts";
import { inTransactionOn } from "../../store/postgres/database.ts";
import type { Connection, Executor, Transaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { deleteFeaturesOfKey } from "../../features/erase-features.ts";
import { groupByPartition } from "../../store/events/partition-slices.ts";
import { excludeIngestion } from "../../store/events/exclude-ingestion.ts";
import { type ErasureRow, findErasures } from "./erasure-table.ts";
import { insertTombstones, type LedgerRow } from "../../store/events/tombstones.ts";
import { query, queryRow, sql } from "../../store/postgres/statement.ts";

/** Number of ledger rows that are processed together. */
const BATCH = 5_000;

export interface FinishPorts {
  readonly pseudonymizer: Pseudonymizer;
  readonly audit: AuditSigner;
  /** Signs the receipt of an erasure. @param at the time in RFC 3339, as the database records it. @returns a JWS. */
  readonly attest: (erasure: ErasureRow, at: string) => Promise<string>;
  readonly signal?: AbortSignal;
}

interface ErasedKey {
  readonly key_id: string;
  readonly account: string;
  readonly purpose: number;
}

const LIST_ERASED_KEYS = sql(
  "select key_id, account, purpose from account_key where erased_by is not null order by erased_by",
  [],
  { key_id: "uuid", account: "text", purpose: "int4" },
);

const DELETE_ACCOUNT_KEY = sql("select delete_account_key($1)", ["uuid"]);

/**
 * Finishes the erasures whose secrets are destroyed: replaces the ledger rows of erased keys by tombstones and deletes
 * the events, in batches, and then signs the receipts. A call continues the unfinished work of a killed process.
 */
export async function finishErasures(connection: Connection, ports: FinishPorts): Promise<void> {
  const { rows: keys } = await query(connection, LIST_ERASED_KEYS);
  for (const key of keys) {
    await deleteErased(connection, ports, key);
    // guard(drop): feature values are deleted before the row of their account key
    await deleteFeaturesOfKey(connection, key.key_id, key.purpose);
    if (ports.signal?.aborted) return;
    await query(connection, DELETE_ACCOUNT_KEY, [key.key_id]);
    if (ports.signal?.aborted) return;
  }
  await signReceipts(connection, ports);
  await signFinalReceipts(connection, ports);
}

const FINISH_ERASURE = sql("select finish_erasure($1, $2)", ["int8", "text"]);

async function signReceipts(connection: Connection, ports: FinishPorts): Promise<void> {
  for (const erasure of await findErasures(connection, { unfinished: true })) {
    const { sequence, kind, subject_mac, actor, reason } = erasure;
    await inTransactionOn(connection, async (transaction) => {
      const receipt = await ports.attest(erasure, await transactionTime(transaction));
      const entry = { actor, via: "server", operation: "erase.run", outcome: "done", reason } as const;
      // guard(drop): the audit says that an erasure is done
      const references = { kind, ...(subject_mac !== null && { subject_mac }) };
      await writeAudit(transaction, ports.audit, { ...entry, references, detail: { sequence } });
      await query(transaction, FINISH_ERASURE, [sequence, receipt]);
    });
  }
}

const RECORD_FINAL_RECEIPT = sql("select record_final_receipt($1, $2)", ["int8", "text"]);

/**
 * Signs a final receipt for each finished erasure whose last held copy was deleted. Only then can a receipt state when
 * backups no longer contain data of the subject.
 */
async function signFinalReceipts(connection: Connection, { attest }: FinishPorts): Promise<void> {
  for (const erasure of await findErasures(connection, { waitedForHold: true })) {
    await inTransactionOn(connection, async (transaction) => {
      const receipt = await attest(erasure, await transactionTime(transaction));
      await query(transaction, RECORD_FINAL_RECEIPT, [erasure.sequence, receipt]);
    });
  }
}

const TRANSACTION_TIME = sql(`select ${instant("transaction_time()", "at")}`, [], { at: "text" });

/** Reads the time that the SQL functions of this transaction record. */
async function transactionTime(transaction: Transaction): Promise<string> {
  return (await queryRow(transaction, TRANSACTION_TIME)).at;
}

const LIST_LEDGER_ROWS = sql(
  `select account, key, event_id, request_mac, purpose, received_at from idempotency_key
    where account = $1 and key_id = $2 limit ${BATCH}`,
  ["text", "uuid"],
  { account: "text", key: "text", event_id: "uuid", request_mac: "bytea", purpose: "int4", received_at: "timestamptz" },
);

/**
 * Deletes events with their ledger rows. Before the ledger rows are deleted, the tombstones exist, and each commit
 * batch that may not have seen them has ended.
 */
async function deleteErased(
  connection: Connection,
  { pseudonymizer, signal }: FinishPorts,
  key: ErasedKey,
): Promise<void> {
  for (;;) {
    if (signal?.aborted) return;
    const { rows } = await query(connection, LIST_LEDGER_ROWS, [key.account, key.key_id]);
    if (rows.length === 0) return;
    // guard(drop): tombstones exist before the ledger rows are deleted
    await insertTombstones(connection, pseudonymizer, rows);
    await inTransactionOn(connection, async (transaction) => {
      // guard(drop): no batch is left that has not seen the tombstones
      await excludeIngestion(transaction);
    });
    // Each transaction processes one partition, so that it has few locks.
    const groups = [...(await groupByPartition(connection, rows)).values()];
    for (const group of groups) await deleteRows(connection, key, group);
    const grouped = new Set(groups.flat());
    await deleteRows(
      connection,
      key,
      rows.filter((row) => !grouped.has(row)),
    );
  }
}

const DELETE_ERASED = sql("select delete_erased($1, $2)", ["uuid", "text[]"]);

async function deleteRows(executor: Executor, key: ErasedKey, rows: readonly LedgerRow[]): Promise<void> {
  if (rows.length > 0) await query(executor, DELETE_ERASED, [key.key_id, rows.map((row) => row.key)]);
}
