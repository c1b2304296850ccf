/**
 * Changes of the MAC keys of surfaces. An entry records each change, and later entries with a replaced key are
 * rejected.
 */
import type { KeyObject } from "node:crypto";
import { isMacOf } from "../../store/crypto/mac.ts";
import { type SignedRecord, type Surface, SURFACES } from "../../store/audit-record/record.ts";
import { type KeyRing, surfaceKeyId, type SurfaceKeys } from "../../store/audit-record/surfaces.ts";

/**
 * The operation of an entry that activates the present MAC keys. For each surface, the references of the entry name the
 * ids of the new key and of the key that it replaces.
 */
export const KEYS_OPERATION = "audit.keys";

/**
 * Whether entries of a surface may change keys: those of commands and workers may, those of ingestion and of the admin
 * API may not.
 */
export const mayChangeKeys = (surface: Surface): boolean => surface === "direct" || surface === "worker";

const replacedName = (surface: Surface): string => `replaced_${surface}`;

/**
 * @param active the ids of the keys that entries have had until now. @param next the ids of the keys that they have
 * from now on.
 */
export function keyReferences(
  active: Readonly<Record<Surface, string>>,
  next: Readonly<Record<Surface, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    SURFACES.flatMap((surface) => [
      [surface, next[surface]],
      [replacedName(surface), active[surface]],
    ]),
  );
}

interface Ring {
  readonly ids: readonly string[];
  /** Oldest first. */
  readonly keys: readonly KeyObject[];
  /** Index of the oldest key that entries may have. */
  least: number;
  /** Index of the oldest key that an entry had so far. */
  oldest: number;
}

export type MacState = "valid" | "replaced" | "invalid";

/** The keys that entries may have at the current position of a verification. */
export class ActiveKeys {
  readonly #rings = new Map<Surface, Ring>();
  /** Whether the previous change is known, because the log was read from its start or a change was read. */
  #isWhole = true;

  constructor(current: SurfaceKeys = {}, replaced: KeyRing = {}) {
    for (const surface of SURFACES) {
      const key = current[surface];
      if (!key) continue;
      const keys = [...(replaced[surface] ?? []), key];
      this.#rings.set(surface, { keys, ids: keys.map(surfaceKeyId), least: 0, oldest: keys.length });
    }
  }

  /**
   * Continues after a change of keys. @param ids of the keys that are active, by surface.
   * @returns a surface whose key is not known here; `undefined` if all are.
   */
  activate(ids: Readonly<Record<string, string>>): Surface | undefined {
    for (const [surface, ring] of this.#rings) {
      ring.least = ring.ids.indexOf(ids[surface] ?? "");
      if (ring.least < 0) return surface;
    }
    return undefined;
  }

  /** Call it if the log is not read from its start. Then only the next change says which keys were active before it. */
  startLater(): void {
    this.#isWhole = false;
  }

  /** Checks the MAC of an entry. Without a key of its surface, the result is `valid`. */
  check(surface: Surface, signed: SignedRecord): MacState {
    const ring = this.#rings.get(surface);
    if (!ring) return "valid";
    const index = signerOf(ring, signed);
    if (index < 0) return "invalid";
    ring.oldest = Math.min(ring.oldest, index);
    return index < ring.least ? "replaced" : "valid";
  }

  /** Whether the MAC is valid, without effect on later checks. Without a key of its surface, the result is `false`. */
  has(surface: Surface, signed: SignedRecord): boolean {
    const ring = this.#rings.get(surface);
    return ring !== undefined && signerOf(ring, signed) >= ring.least;
  }

  /**
   * Activates the keys that an entry names.
   * @param surface the surface of `signed`. @param signed the entry of the change, whose MAC is valid. @param
   * references the references of the entry.
   * @returns what is wrong with the change or with an entry before it; `undefined` if nothing is.
   */
  change(surface: Surface, signed: SignedRecord, references: Readonly<Record<string, string>>): string | undefined {
    const ownRing = this.#rings.get(surface);
    // guard(false): derived keys, which each process has, activate no keys
    if (ownRing && signerOf(ownRing, signed) === 0) return "has a derived key itself";
    const idOf = (name: string): string => references[name] ?? "";
    const rings = [...this.#rings];
    const [unknown] = rings.find(([name, { ids }]) => !ids.includes(idOf(name))) ?? [];
    if (unknown !== undefined) return `names a key of ${unknown} that is not known here`;
    const [old] = rings.find(([name, { ids, oldest }]) => oldest < ids.indexOf(idOf(replacedName(name)))) ?? [];
    const wasWhole = this.#isWhole;
    this.#isWhole = true;
    for (const [name, ring] of rings) ring.least = Math.max(ring.least, ring.ids.indexOf(idOf(name)));
    // guard(true): entries that are read before the first change have the keys that the change replaces
    return wasWhole || old === undefined ? undefined : `comes after an entry of ${old} with a replaced key`;
  }

  /** @returns what is wrong if the log ends here; `undefined` if nothing is. */
  finish(): string | undefined {
    const old = [...this.#rings].find(([, { oldest, keys }]) => oldest < keys.length - 1);
    return this.#isWhole || !old
      ? undefined
      : `An entry of ${old[0]} has a replaced key, and nothing that was read says that it was active.`;
  }
}

const signerOf = ({ keys }: Ring, { bytes, mac }: SignedRecord): number =>
  keys.findLastIndex((key) => isMacOf(key, bytes, mac));
