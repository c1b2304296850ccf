/** What one request may hold for the price of one: a full event of the SDK has about 14 KB and 400 members. */
const BYTES_OF_ONE = 16_384;
const MEMBERS_OF_ONE = 1_024;

/** To compare two requests in canonical form takes some four times as long as to read and store one. */
const COMPARISON = 4;

/** What comparing a request with a stored one in canonical form costs beyond what reading it cost. */
export function costOfComparison(cost: number): number {
  return COMPARISON * (cost - 1);
}

/**
 * What a request costs its account at the throttle: 1 for each 16 KiB of its decompressed body that was begun, or for
 * each 1,024 members at all depths, whichever is more, and at least 1. Time on the main thread grows with both.
 */
export function costOf(bytes: number, members: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_OF_ONE), Math.ceil(members / MEMBERS_OF_ONE));
}
