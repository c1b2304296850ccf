/** Checks entries before they get their leaves, in the order of the log. */
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Executor } from "../store/postgres/executor.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { differingColumns } from "./entries.ts";
import { ActiveKeys, KEYS_OPERATION, mayChangeKeys } from "./log/active-keys.ts";
import { referencesOf } from "./log/epoch.ts";
import { decodeRecord, SURFACES } from "../store/audit-record/record.ts";
import { isOfSurface } from "../store/audit-record/surfaces.ts";
import type { UnloggedEntry } from "./log-table.ts";
import { findLoggedKeys } from "./surface-keys.ts";

export class EntryChecker {
  readonly #keys: ActiveKeys;

  private constructor(keys: ActiveKeys) {
    this.#keys = keys;
  }

  /**
   * Begins after the last leaf.
   * @throws key-file-unusable if this process lacks a MAC key of a surface: it would take genuine entries for forged
   * ones.
   */
  static async open(executor: Executor, signer: AuditSigner): Promise<EntryChecker> {
    signer.requireKeys(SURFACES);
    const keys = new ActiveKeys(signer.surfaces, signer.replaced);
    const active = await findLoggedKeys(executor);
    const unknown = active && keys.activate(active);
    if (unknown === undefined) return new EntryChecker(keys);
    throw new OperatorError(
      "key-file-unusable",
      `The audit log has MAC keys of ${unknown} that this process lacks: set DRS_AUDIT_KEY_FILE.`,
    );
  }

  /** Whether the entry has the MAC of its surface, an operation of this surface, and columns that copy its record. */
  isGenuine({ entry_id, record: bytes, mac, copies }: Omit<UnloggedEntry, "hash" | "next">): boolean {
    const record = decodeRecord(bytes);
    if (!record || copies === null || record.entryId !== entry_id) return false;
    const signed = { bytes, mac };
    if (this.#keys.check(record.surface, signed) !== "valid" || !isOfSurface(record)) return false;
    if (differingColumns(record, copies).length > 0) return false;
    if (record.operation !== KEYS_OPERATION) return true;
    return (
      mayChangeKeys(record.surface) && this.#keys.change(record.surface, signed, referencesOf(record)) === undefined
    );
  }
}
