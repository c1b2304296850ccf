/**
 * Where wrapped secrets lie, apart from the events. Keys beside the events they open would erase nothing when they are
 * destroyed: not the same data directory, cluster, backup or WAL.
 */
export interface KeyStore {
  /** @returns the wrapped secret, or `undefined` where there is none. @throws Unavailable */
  read(name: string): Promise<Buffer | undefined>;
  /**
   * Stores a wrapped secret unless one stands under the name already; durable when the promise resolves.
   * @returns the one that stands. @throws Unavailable
   */
  create(name: string, wrapped: Buffer): Promise<Buffer>;
  /** What stood under the name is gone when the promise resolves; that nothing did is no fault. @throws Unavailable */
  destroy(name: string): Promise<void>;
  /** A line for people: where it is. */
  readonly description: string;
  close(): Promise<void>;
}
