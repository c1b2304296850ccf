import { type KeyObject, randomUUID } from "node:crypto";
import { type AuditRecord, type Head, signRecord, type SignedRecord, type Surface } from "./record.ts";

/** The members of a record that the writer of the entry gives; the other members are added when the entry is signed. */
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
 * The entries of one writer as a chain: each entry has the MAC of the previous entry. The head moves only when the
 * writer acknowledges a commit. Each writer has a lane of its own, so that no writer waits for another.
 */
export class Lane {
  readonly #signer: SurfaceKey;
  #id = randomUUID();
  /** The last entry that is known to be committed, of this lane or of the lane that it continues. */
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

  /** Call it when the transaction is committed. */
  acknowledge(): void {
    this.#head = this.#written;
  }

  /**
   * Call it if it is unknown whether the transaction was committed. Later entries are in a new lane, which continues
   * from the last known head.
   */
  renew(): void {
    this.#id = randomUUID();
  }
}

/** Signs an entry that is in no lane. */
export function signOutsideLane({ surface, key }: SurfaceKey, entry: LaneEntry): SignedEntry {
  return signEntry(key, { ...entry, surface });
}

const signEntry = (key: KeyObject, record: AuditRecord): SignedEntry => ({ record, ...signRecord(key, record) });
