import type { KeyEncryption } from "./key-encryption.ts";
import type { KeyStore, NewWrapping } from "./key-store.ts";

/** Maximum number of secrets that are wrapped again at the same time. A killed run repeats at most as many. */
const BATCH = 100;

export interface KeyVersion {
  readonly version: string;
  /** Whether new secrets are wrapped under this version. */
  readonly current: boolean;
  /** Number of secrets that are wrapped under the version. */
  readonly secrets: number;
  /** Whether the key is available. Without it the secrets of this version can't be opened. */
  readonly known: boolean;
}

/**
 * Lists the known versions, oldest first, and after them the versions whose key is missing although secrets are wrapped
 * under them.
 */
export async function listKeyVersions(store: KeyStore, keys: KeyEncryption): Promise<readonly KeyVersion[]> {
  const versions = await keys.versions();
  const counts = new Map<string, number>();
  for await (const secrets of secretsOf(store)) {
    for (const wrapped of secrets.values()) {
      const version = keys.versionOf(wrapped);
      counts.set(version, (counts.get(version) ?? 0) + 1);
    }
  }
  const unknown = [...counts.keys()].filter((version) => !versions.includes(version));
  return [...versions, ...unknown].map((version) => ({
    version,
    current: version === versions.at(-1),
    secrets: counts.get(version) ?? 0,
    known: versions.includes(version),
  }));
}

/**
 * Wraps every secret under the current version; events are not touched. If a run is killed, the next run continues
 * where it stopped. A server that makes a secret at the same time may still wrap it under the previous version, so the
 * run repeats its search until it finds no secret under an earlier version.
 *
 * @param onProgress called after each batch with the number of secrets that were wrapped again.
 */
export async function rewrap(
  store: KeyStore,
  keys: KeyEncryption,
  onProgress: (secrets: number) => void | Promise<void>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const current = (await keys.versions()).at(-1);
    let foundCount = 0;
    for await (const secrets of secretsOf(store)) {
      const old = [...secrets].filter(([, wrapped]) => keys.versionOf(wrapped) !== current);
      foundCount += old.length;
      if (old.length === 0) continue;
      const wrappings = await Promise.all(old.map(([id, existing]) => wrapAgain(keys, id, existing)));
      total += await store.replace(wrappings);
      await onProgress(total);
    }
    if (foundCount === 0) return total;
  }
}

async function wrapAgain(keys: KeyEncryption, id: string, existing: Buffer): Promise<NewWrapping> {
  const context = Buffer.from(id, "hex");
  return { id, existing, wrapped: await keys.wrap(await keys.unwrap(existing, context), context) };
}

/** Yields the wrapped secrets by id, at most `BATCH` at a time. */
async function* secretsOf(store: KeyStore): AsyncGenerator<ReadonlyMap<string, Buffer>> {
  for await (const ids of store.ids()) {
    for (let at = 0; at < ids.length; at += BATCH) yield await store.readToOpen(ids.slice(at, at + BATCH));
  }
}
