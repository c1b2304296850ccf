/** A process has at least this number of connections, if the pool has as many. They are enough for its look-ups. */
const MIN_POOL = 4;

/**
 * @param pool number of connections of a server of one process.
 * @returns the number of connections of each of several processes: an equal part, at least 4, and at most `pool`.
 */
export const poolOfProcess = (pool: number, processes: number): number =>
  Math.min(pool, Math.max(MIN_POOL, Math.ceil(pool / processes)));
