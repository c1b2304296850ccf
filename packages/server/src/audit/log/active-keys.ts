/** Changes of the MAC keys of surfaces: from an entry of the log on, entries with replaced keys are refused. */
import { type KeyObject, timingSafeEqual } from "node:crypto";
import { macOf, type SignedRecord, type Surface, SURFACES } from "./record.ts";
import { type KeyRing, surfaceKeyId, type SurfaceKeys } from "./surfaces.ts";

/** Activates the present MAC keys. The references name, by surface, the id of the key and of the one before. */
export const KEYS_OPERATION = "audit.keys";

/** Only a command or a worker may change keys, never a process of ingestion or of the admin API. */
export const mayChangeKeys = (surface: Surface): boolean => surface === "direct" || surface === "worker";

const replacedName = (surface: Surface): string => `replaced_${surface}`;

/** @param active the keys that entries have had. @param next the keys that they have from now on. */
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
  /** Index of the oldest key that an entry had. */
  oldest: number;
}

export type MacState = "valid" | "replaced" | "invalid";

/** The keys that entries may have, at one place of a log. */
export class ActiveKeys {
  readonly #rings = new Map<Surface, Ring>();
  /** Whether all earlier entries, and therefore the previous change, are known. */
  #isWhole = true;

  constructor(current: SurfaceKeys = {}, replaced: KeyRing = {}) {
    for (const surface of SURFACES) {
      const key = current[surface];
      if (!key) continue;
      const keys = [...(replaced[surface] ?? []), key];
      this.#rings.set(surface, { keys, ids: keys.map(surfaceKeyId), least: 0, oldest: keys.length });
    }
  }

  /** Called if the log is not read from its start. Only the next change says which keys are active at that place. */
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

  /**
   * @param surface the surface of `signed`. @param signed the entry of the change, whose MAC is valid. @param
   * references the references of the entry.
   * @returns the problem of the change, or of an entry before it.
   */
  change(surface: Surface, signed: SignedRecord, references: Readonly<Record<string, string>>): string | undefined {
    const own = this.#rings.get(surface);
    // guard(false): derived keys, which each process has, activate no keys
    // fails: packages/server/src/audit/log/active-keys.test.ts › with a derived key
    if (own && signerOf(own, signed) === 0) return "has a derived key itself";
    const idOf = (name: string): string => references[name] ?? "";
    const rings = [...this.#rings];
    const [unknown] = rings.find(([name, { ids }]) => !ids.includes(idOf(name))) ?? [];
    if (unknown !== undefined) return `names a key of ${unknown} that is not known here`;
    const [old] = rings.find(([name, { ids, oldest }]) => oldest < ids.indexOf(idOf(replacedName(name)))) ?? [];
    const wasWhole = this.#isWhole;
    this.#isWhole = true;
    for (const [name, ring] of rings) ring.least = Math.max(ring.least, ring.ids.indexOf(idOf(name)));
    // guard(true): entries that are read before the first change have the keys that the change replaces
    // fails: packages/server/src/audit/log/active-keys.test.ts › with a key that was replaced before
    return wasWhole || old === undefined ? undefined : `comes after an entry of ${old} with a replaced key`;
  }

  /** @returns what is wrong at the end of the log. */
  finish(): string | undefined {
    const old = [...this.#rings].find(([, { oldest, keys }]) => oldest < keys.length - 1);
    return this.#isWhole || !old
      ? undefined
      : `An entry of ${old[0]} has a replaced key, and nothing that was read says that it was active.`;
  }
}

const signerOf = ({ keys }: Ring, { bytes, mac }: SignedRecord): number =>
  keys.findLastIndex((key) => isEqual(macOf(key, bytes), mac));

const isEqual = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);
