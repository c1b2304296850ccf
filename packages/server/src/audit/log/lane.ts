import { type KeyObject, randomUUID } from "node:crypto";
import { type AuditRecord, type Head, signRecord, type SignedRecord, type Surface } from "./record.ts";

/** The members of an entry that its writer gives. The lane adds the other members. */
export type LaneEntry = Omit<AuditRecord, "surface" | "place" | "previous">;

export interface SignedEntry extends SignedRecord {
  readonly record: AuditRecord;
}

/** The MAC key of a surface. */
export interface SurfaceKey {
  readonly surface: Surface;
  readonly key: KeyObject;
}

/**
 * A chain of entries of consecutive transactions. Each entry has the MAC of the previous entry. The head moves after a
 * commit was acknowledged, so that no writer waits for another.
 */
export class Lane {
  readonly #signer: SurfaceKey;
  #id = randomUUID();
  /** The last entry that is known to be committed, of this lane or of the one before. */
  #head: Head | undefined;
  #written: Head | undefined;

  constructor(signer: SurfaceKey) {
    this.#signer = signer;
  }

  /**
   * Signs the entries of one transaction. If the previous call was not acknowledged, its transaction counts as rolled
   * back. If the outcome of that transaction is unknown, the caller must call `renew` first.
   */
  sign(entries: readonly LaneEntry[]): readonly SignedEntry[] {
    const { surface, key } = this.#signer;
    let previous = this.#head;
    const records = entries.map((entry) => {
      const number = previous?.lane === this.#id ? previous.number + 1 : 1;
      const place = { lane: this.#id, number };
      const signed = signEntry(key, { ...entry, surface, place, previous });
      previous = { ...place, mac: signed.mac };
      return signed;
    });
    this.#written = previous;
    return records;
  }

  /** Called when the transaction is committed. */
  acknowledge(): void {
    this.#head = this.#written;
  }

  /** Called if it is unknown whether the transaction is committed. A new lane continues from the last known head. */
  renew(): void {
    this.#id = randomUUID();
  }
}

/** Signs an entry that is in no lane. */
export function signOutsideLane({ surface, key }: SurfaceKey, entry: LaneEntry): SignedEntry {
  return signEntry(key, { ...entry, surface });
}

const signEntry = (key: KeyObject, record: AuditRecord): SignedEntry => ({ record, ...signRecord(key, record) });
