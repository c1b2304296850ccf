/**
 * The maximum size of a request that costs 1. A full event of the SDK is smaller: it has about 14 KB and 400 members.
 */
const BYTES_PER_UNIT = 16_384;
const MEMBERS_PER_UNIT = 1_024;

/** Comparing two requests in canonical form takes about four times as long as reading and storing one. */
const COMPARISON_FACTOR = 4;

/** The additional cost of comparing a request of this cost with a stored one in canonical form; 0 for a cost of 1. */
export function costOfComparison(cost: number): number {
  return COMPARISON_FACTOR * (cost - 1);
}

/** A large body with escapes may need the slow reader, which takes about twice as long as `JSON.parse` and the checks. */
const ESCAPES_FACTOR = 2;

/**
 * The cost of a request at the account's throttle: 1 for each 16 KiB of its decompressed body or for each 1,024 members
 * at all depths, rounded up, whichever is more. The part beyond 1 counts twice if the text has an escape that may need
 * the slow reader. Bytes, members and escapes all increase the time on the main thread.
 */
export function costOf(bytes: number, members: number, escapes = false): number {
  const cost = Math.max(1, Math.ceil(bytes / BYTES_PER_UNIT), Math.ceil(members / MEMBERS_PER_UNIT));
  return escapes ? 1 + ESCAPES_FACTOR * (cost - 1) : cost;
}
