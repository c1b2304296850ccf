/**
 * Short texts next to the secrets. A server reads from them whether the key store, or a database that was used with it,
 * was restored from a backup.
 */
export const KEY_STORE_WATERMARKS = {
  /** The latest journal entry that was applied to the key store. */
  applied: "mark",
  /** The latest entry that the erasure journal has. */
  journalHead: "journal-head",
  /** The id of the installation to which the key store belongs. */
  installation: "installation",
} as const;
export type KeyStoreWatermark = (typeof KEY_STORE_WATERMARKS)[keyof typeof KEY_STORE_WATERMARKS];

export const SECRET_ID = /^[\da-f]{64}$/;

/** @throws TypeError */
export function requireSecretId(id: string): void {
  if (!SECRET_ID.test(id)) throw new TypeError("an id of a secret has 64 hexadecimal digits");
}

/** Another wrapping of a stored secret. */
export interface NewWrapping {
  readonly id: string;
  readonly existing: Buffer;
  readonly wrapped: Buffer;
}

/**
 * Stores wrapped secrets by their ids (64 hexadecimal digits). A key store must not be in the same data directory,
 * cluster, backup or WAL as the events; otherwise the destruction of a secret would erase nothing.
 */
export interface KeyStore {
  /** @returns the wrapped secret, or `undefined` if there is none. @throws Unavailable */
  read(id: string): Promise<Buffer | undefined>;
  /**
   * Reads wrapped secrets in order to open events, not to seal. It does not wait until a secret of another process is
   * durable. Ids without a secret are left out. @throws Unavailable
   */
  readToOpen(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /**
   * Stores a wrapped secret unless the id already has one. The secret is durable when the promise resolves.
   * @returns the wrapped secret that the id has now. @throws Unavailable
   */
  create(id: string, wrapped: Buffer): Promise<Buffer>;
  /**
   * Destroys a secret on purpose. A crash can't leave the secret deleted without a destruction record. When the promise
   * resolves, the id has no secret. A secret that did not exist is no error. @throws Unavailable
   */
  destroy(id: string): Promise<void>;
  /** Deletes a secret under which nothing was sealed, without a destruction record. @throws Unavailable */
  discard(id: string): Promise<void>;
  /**
   * Replaces stored wrapped secrets by other wrappings of the same secrets. The new wrappings are durable when the
   * promise resolves. No process may destroy secrets at the same time.
   * @returns of how many `existing` was the stored one. @throws Unavailable
   */
  replace(wrappings: readonly NewWrapping[]): Promise<number>;
  /** Finds ids that have no secret. @throws Unavailable */
  findMissing(ids: readonly string[]): Promise<readonly string[]>;
  /** Finds ids that have a destruction record. No record is ever deleted. @throws Unavailable */
  findDestroyed(ids: readonly string[]): Promise<readonly string[]>;
  /** Yields the ids of all secrets in one or more lists. @throws Unavailable */
  ids(): AsyncIterable<readonly string[]>;
  /** Reads the text of a watermark; `undefined` if none was written. @throws Unavailable */
  readWatermark(name: KeyStoreWatermark): Promise<string | undefined>;
  /**
   * Replaces a watermark, which may have several writers. The text is durable when the promise resolves.
   * @throws Unavailable
   */
  writeWatermark(name: KeyStoreWatermark, text: string): Promise<void>;
  /** Tries whether the key store can be written. @throws Unavailable */
  requireWritable(): Promise<void>;
  /** The place of the key store as one line for messages. */
  readonly description: string;
  close(): Promise<void>;
}
