/**
 * Short texts next to the secrets, which show that the key store, or what it was used with, was restored from a backup.
 */
export const KEY_STORE_WATERMARKS = {
  /** The watermark of what was applied to the key store: the latest entry of the journal. */
  applied: "mark",
  /** The latest entry that the erasure journal has. */
  journalHead: "journal-head",
} as const;
export type KeyStoreWatermark = (typeof KEY_STORE_WATERMARKS)[keyof typeof KEY_STORE_WATERMARKS];

/**
 * Stores wrapped secrets by their ids (64 hexadecimal digits), apart from the events: not in the same data directory,
 * cluster, backup or WAL. Otherwise the destruction of a secret would erase nothing.
 */
export interface KeyStore {
  /** @returns the wrapped secret, or `undefined` where there is none. @throws Unavailable */
  read(id: string): Promise<Buffer | undefined>;
  /**
   * Reads wrapped secrets in order to open, not to seal: that another process has stored one durably is not awaited. Ids
   * without a secret are left out. @throws Unavailable
   */
  readToOpen(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /**
   * Stores a wrapped secret unless the id has one already; durable when the promise resolves.
   * @returns the stored one. @throws Unavailable
   */
  create(id: string, wrapped: Buffer): Promise<Buffer>;
  /**
   * Destroys a secret on purpose. Its destruction record is durable before the secret is deleted. The id has no secret
   * when the promise resolves; that it had none before is no error. @throws Unavailable
   */
  destroy(id: string): Promise<void>;
  /** Deletes a secret that nothing was sealed under, without a record. @throws Unavailable */
  discard(id: string): Promise<void>;
  /**
   * Replaces the stored wrap by another wrap of the same secret; durable when the promise resolves. No process may
   * destroy secrets meanwhile. @returns whether `existing` was the stored one. @throws Unavailable
   */
  replace(id: string, existing: Buffer, wrapped: Buffer): Promise<boolean>;
  /** Finds ids that have no secret. @throws Unavailable */
  findMissing(ids: readonly string[]): Promise<readonly string[]>;
  /** Finds ids that have a destruction record. No record is ever deleted. @throws Unavailable */
  findDestroyed(ids: readonly string[]): Promise<readonly string[]>;
  /** Yields the ids of all secrets, some at a time. @throws Unavailable */
  ids(): AsyncIterable<readonly string[]>;
  /** Reads the text of a watermark, or `undefined`. @throws Unavailable */
  readWatermark(name: KeyStoreWatermark): Promise<string | undefined>;
  /** Replaces a watermark; durable when the promise resolves. @throws Unavailable */
  writeWatermark(name: KeyStoreWatermark, text: string): Promise<void>;
  /** Where the key store is, in one line for messages. */
  readonly description: string;
  close(): Promise<void>;
}
