/** Bytes of one event in a commit batch of `size` events: `event + batch / size`, fitted to two sizes. */
export interface Cost {
  readonly event: number;
  readonly batch: number;
}

/**
 * What an event adds to the database, from which `drs capacity` and `drs doctor` compute. `npm run bench:bytes` prints
 * these figures again. `capacity.test.ts` compares them with another load.
 */
export const MEASURED = {
  /** Bytes of a sealed payload: `fixed + share × bytes of the event`. The generator is unknown to the dictionary. */
  payload: { fixed: 155, share: 0.242 },
  /** Bytes of a row of `event`, without its payload. */
  row: 264,
  eventIndexes: { event: 263, batch: -41 },
  /** The ledger is `idempotency_key`. */
  ledgerTable: { event: 152, batch: 2 },
  ledgerIndexes: { event: 130, batch: 3 },
  auditTable: { event: 81, batch: 655 },
  auditIndexes: { event: -2, batch: 202 },
  /** Write-ahead log without payloads and without whole pages. */
  wal: { event: 1_273, batch: 1_177 },
  /** Indexes in which a new entry can be in any page: the event's action id, and the ledger's primary key. */
  actionIndex: 90,
  keyIndex: 94,
  /** A page of such an index in the write-ahead log, whole: it is written so at its first change after a checkpoint. */
  indexPage: { whole: 6_010, compressed: 4_063 },
  /** Share of a table that the first vacuum writes to the write-ahead log, if the cluster has data checksums. */
  vacuumed: 0.94,
} as const;

/**
 * What depends on the machine. `npm run bench:bytes` shows how many events a batch has at 500 a second, and
 * `npm run bench` the CPU (docs/performance.md and bench/tries.md; two virtual cores).
 */
export const MACHINE = {
  /** Seconds in which further events join a batch. */
  batchSeconds: 0.001,
  /** Microseconds of CPU. */
  serverCpu: { event: 120, batch: 347 },
  postgresCpu: { event: 42, batch: 310 },
  /** Bytes of memory of a process of the server, and of a connection to PostgreSQL. */
  processMemory: 300e6,
  connectionMemory: 10e6,
} as const;
