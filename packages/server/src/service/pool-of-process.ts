/** A process has at least this number of connections, if the pool has as many. They are enough for its look-ups. */
const MIN_POOL = 4;

/**
 * @param pool - connections that the setting gives to the pool of a server of one process.
 * @returns the connections in the pool of each of several processes: its part, at least 4, and at most the whole pool.
 */
export const poolOfProcess = (pool: number, processes: number): number =>
  Math.min(pool, Math.max(MIN_POOL, Math.ceil(pool / processes)));
