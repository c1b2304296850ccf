/** Audits a list that a page reads again and again. */
import type { MonotonicClock } from "../base/ports.ts";

const AUDITED_FOR_MS = 600_000;
/** More people with more filters are audited more often. */
const MAX_REMEMBERED = 1_000;

/** When a person's list with a filter was audited last, by the pool of the server. */
const audited = new WeakMap<object, Map<string, number>>();

/**
 * Calls `write` unless it was called for the same list in the last ten minutes, and remembers it when it succeeded.
 * @param key who reads what.
 */
export async function auditOnce(
  server: object,
  key: string,
  clock: MonotonicClock,
  write: () => Promise<unknown>,
): Promise<void> {
  const times = audited.get(server) ?? new Map<string, number>();
  audited.set(server, times);
  const at = clock.now();
  if (at - (times.get(key) ?? -AUDITED_FOR_MS) < AUDITED_FOR_MS) return;
  await write();
  if (times.size >= MAX_REMEMBERED) times.clear();
  times.set(key, at);
}
