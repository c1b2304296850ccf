import { readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/**
 * Dictionaries by version. A version is written into every payload, so none is ever changed or removed.
 * How they are trained stands in `dictionaries/README.md`.
 */
const DICTIONARIES: ReadonlyMap<number, Buffer> = new Map(
  [1].map((version) => [version, readFileSync(join(import.meta.dirname, "dictionaries", `${version}.zdict`))]),
);
const CURRENT = 1;

/** No event is larger: `DRS_MAX_BODY_BYTES` ends there. */
const LARGEST_EVENT = 16_777_216;

/**
 * Level 1, a window just past the size of a full event, and a hash table that fits the first-level cache: `bench/`
 * shows what each is worth.
 */
const OPTIONS = {
  dictionary: DICTIONARIES.get(CURRENT),
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_windowLog]: 15,
    [constants.ZSTD_c_dictIDFlag]: 0,
  },
};

export interface Compressed {
  /** Version of the dictionary. */
  readonly dictionary: number;
  readonly bytes: Buffer;
}

export function compress(bytes: Uint8Array): Compressed {
  return { dictionary: CURRENT, bytes: zstdCompressSync(bytes, OPTIONS) };
}

/** @throws for bytes that `compress` did not make, or a dictionary of a later version. */
export function decompress({ dictionary, bytes }: Compressed): Buffer {
  const known = DICTIONARIES.get(dictionary);
  if (!known) throw new Error(`dictionary ${dictionary} is not known to this version`);
  return zstdDecompressSync(bytes, { dictionary: known, maxOutputLength: LARGEST_EVENT });
}
