import { bounded, type Bounds } from "./bounded.ts";
import type { HostAbortSignal } from "./host-globals.ts";

/**
 * Where the outbox keeps events. AsyncStorage, wrappers of MMKV and the Web's `localStorage` have this shape. The
 * values contain raw events, so pass a storage that is encrypted and not backed up.
 */
export interface OutboxStorage {
  getItem(name: string): Promise<string | null | undefined> | string | null | undefined;
  setItem(name: string, value: string): unknown;
  removeItem(name: string): unknown;
}

/**
 * Time limit of one operation of the outbox on its storage, which may be several calls. A storage that works takes
 * less.
 */
const STORAGE_MS = 5_000;

/**
 * Waits at most `STORAGE_MS` for work on the storage, which may never answer. Rejects after this time, or when the
 * signal is aborted.
 */
export async function inTime<Value extends object | undefined | void>(
  work: (bounds: Bounds) => Promise<Value>,
  signal?: HostAbortSignal,
): Promise<Value> {
  const value = await bounded(work, STORAGE_MS, signal);
  if (typeof value === "string") throw new Error(value);
  return value;
}
