/** Sizes an installation by what was measured. Pure: it needs no database. */
import { describeBytes } from "../../base/messages/bytes.ts";
import { LOCKS_PER_PARTITION } from "../events/partition-slices.ts";
import { FARTHEST_MS, PARTITIONS_AHEAD } from "../events/partitions.ts";
import { type Cost, MACHINE, MEASURED } from "./measured.ts";

export interface Demand {
  readonly eventsPerDay: number;
  /** Mean size of an event, as the endpoint gets it. */
  readonly eventBytes: number;
  readonly retentionDays: number;
  readonly replayWindowDays: number;
  readonly auditDays: number;
  /** The busiest quarter of an hour ÷ the mean. */
  readonly peak: number;
  /** Connections of one process to the events. */
  readonly pool: number;
}

/** A figure of a plan. `how` says how it was computed. */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly unit: "bytes" | "count";
  readonly how: string;
}

const PAGE = 8_192;
/** Bytes of a page without its header. */
const PAGE_ROOM = PAGE - 24;
const ITEM_POINTER = 4;
/** A payload of a larger row is stored in chunks of TOAST, four in a page. */
const LARGEST_ROW = 8_160;
const TOAST_CHUNK = 1_996;
const DAY_SECONDS = 86_400;
const CHECKPOINT_SECONDS = 900;
const MAX_BATCH = 64;
const GIB = 1_024 ** 3;
/** Deleted rows of the ledger are vacuumed when they are a fifth of it. */
const DEAD_ROWS = 1.2;
const FREE_SHARE = 1.25;
/** Half of the cores are left for vacuum, backups, reads and features. */
const BUSY_SHARE = 0.5;
const BUSY_SHARE_OF_PROCESS = 0.7;
/** Beyond it, the cache of the operating system serves as well. */
const MAX_SHARED_BUFFERS = 64 * GIB;

/** The lengths of partitions in days, up to a retention in days: see `partition_unit`. */
const UNITS = [
  [7, 1 / 24, "hour"],
  [200, 1, "day"],
  [4 * 365.25, 7, "week"],
  [Number.POSITIVE_INFINITY, 30.4375, "month"],
] as const;

const costOf = ({ event, batch }: Cost, size: number): number => event + batch / size;

/** Mean number of events of a commit batch. */
export const batchAt = (eventsPerSecond: number): number =>
  Math.min(MAX_BATCH, 1 + eventsPerSecond * MACHINE.batchSeconds);

/** Bytes of the table for one event. Pages hold whole rows. */
function tableBytes(payload: number): number {
  const row = MEASURED.row + payload;
  if (row <= LARGEST_ROW) return PAGE / Math.floor(PAGE_ROOM / (row + ITEM_POINTER));
  return MEASURED.row + (Math.ceil(payload / TOAST_CHUNK) * PAGE) / 4;
}

/** Bytes of whole pages in the write-ahead log for one event, because events change random pages of an index. */
function wholePages(indexBytes: number, { checkpointEvents: events, compressed }: Conditions): number {
  const pages = indexBytes / PAGE;
  const bytes = MEASURED.indexPage[compressed ? "compressed" : "whole"];
  return pages === 0 ? 0 : (bytes * pages * (1 - Math.exp(-events / pages))) / events;
}

/** Bytes that one event of a commit batch adds to the ledger, and to the audit log. */
export const ledgerBytes = (batch: number): number =>
  costOf(MEASURED.ledgerTable, batch) + costOf(MEASURED.ledgerIndexes, batch);
export const auditBytes = (batch: number): number =>
  costOf(MEASURED.auditTable, batch) + costOf(MEASURED.auditIndexes, batch);

export interface Conditions {
  /** Events of a commit batch. */
  readonly batch: number;
  /** Rows of the ledger, and of the partition of today. */
  readonly ledgerRows: number;
  readonly partitionRows: number;
  /** Events from one checkpoint to the next. */
  readonly checkpointEvents: number;
  /** Whether the cluster has data checksums, as PostgreSQL 18 makes it. */
  readonly checksums: boolean;
  /** Whether `wal_compression` is on. */
  readonly compressed: boolean;
}

/** What one event adds, in bytes. */
export function bytesOfEvent(eventBytes: number, conditions: Conditions) {
  const { batch, ledgerRows, partitionRows, checksums } = conditions;
  const payload = MEASURED.payload.fixed + MEASURED.payload.share * eventBytes;
  const data = tableBytes(payload);
  const tables = data + costOf(MEASURED.ledgerTable, batch) + costOf(MEASURED.auditTable, batch);
  return {
    payload,
    data,
    indexes: costOf(MEASURED.eventIndexes, batch),
    ledger: ledgerBytes(batch),
    audit: auditBytes(batch),
    wal:
      payload +
      costOf(MEASURED.wal, batch) +
      wholePages(ledgerRows * MEASURED.keyIndex, conditions) +
      wholePages(partitionRows * MEASURED.actionIndex, conditions) +
      (checksums ? MEASURED.vacuumed * tables : 0),
  };
}

/** The length of a partition for a period, and how many there are at once for one purpose. */
export function partitionsFor(retentionDays: number): {
  readonly days: number;
  readonly unit: string;
  readonly count: number;
} {
  const [, days, unit] = UNITS.find(([most, , name]) =>
    name === "hour" ? retentionDays < most : retentionDays <= most,
  ) as (typeof UNITS)[number];
  const ahead = Math.min(PARTITIONS_AHEAD, Math.floor(FARTHEST_MS / (days * DAY_SECONDS * 1_000)));
  return { days, unit, count: Math.ceil(retentionDays / days) + 1 + ahead };
}

/** Computes what an installation needs. */
export function planCapacity(demand: Demand): readonly Figure[] {
  const { eventsPerDay, eventBytes, retentionDays, replayWindowDays, auditDays, peak, pool } = demand;
  const perSecond = eventsPerDay / DAY_SECONDS;
  const atPeak = perSecond * peak;
  const partitions = partitionsFor(retentionDays);
  const keptDays = retentionDays + partitions.days;
  const ledgerRows = eventsPerDay * (keptDays + replayWindowDays);
  const partitionRows = (eventsPerDay * partitions.days) / 2;
  const conditionsAt = (rate: number): Conditions => ({
    batch: batchAt(rate),
    ledgerRows,
    partitionRows,
    checkpointEvents: rate * CHECKPOINT_SECONDS,
    checksums: true,
    compressed: true,
  });
  const event = bytesOfEvent(eventBytes, conditionsAt(perSecond));
  const eventAtPeak = bytesOfEvent(eventBytes, conditionsAt(atPeak));

  const data = eventsPerDay * keptDays * event.data;
  const indexes = eventsPerDay * keptDays * event.indexes;
  const ledger = ledgerRows * event.ledger * DEAD_ROWS;
  const audit = eventsPerDay * auditDays * event.audit;
  const maxWal = Math.max(2 * GIB, 2 * atPeak * CHECKPOINT_SECONDS * eventAtPeak.wal);
  const stored = data + indexes + ledger + audit;

  const hotPages = ledgerRows * MEASURED.keyIndex + 2 * partitionRows * MEASURED.actionIndex;
  const sharedBuffers = Math.min(MAX_SHARED_BUFFERS, Math.max(GIB, hotPages));
  const cpu = (cost: Cost): number => (atPeak * costOf(cost, batchAt(atPeak))) / 1e6;
  const [serverCores, postgresCores] = [cpu(MACHINE.serverCpu), cpu(MACHINE.postgresCpu)];
  const processes = Math.max(1, Math.ceil(serverCores / BUSY_SHARE_OF_PROCESS));
  // The supervisor and each process, the admin API, the owner's login, and 20 for commands, backups and monitoring.
  const connections = processes * (pool + 4) + 5 + 1 + 20;
  const locks = partitions.count * LOCKS_PER_PARTITION;

  const days = (value: number): string => `${round(value)} days`;
  const bytes = (value: number): string => `${grouped(value)} bytes`;
  const daily = `${grouped(eventsPerDay)} events a day`;
  const peakRate = `${grouped(atPeak)} events a second at the peak`;
  const kept = `${daily} × ${days(keptDays)}`;
  const figures: readonly (readonly [figure: string, unit: Figure["unit"], value: number, how: string])[] = [
    ["disk", "bytes", FREE_SHARE * (stored + maxWal), "the next five, and a fifth of the disk free"],
    ["events", "bytes", data, `${kept} × ${bytes(event.data)}: payloads of ${bytes(event.payload)} in pages`],
    ["indexes of events", "bytes", indexes, `${kept} × ${bytes(event.indexes)}`],
    [
      "ledger",
      "bytes",
      ledger,
      `${daily} × ${days(keptDays + replayWindowDays)} (DRS_REPLAY_WINDOW) × ${bytes(event.ledger)}, and a fifth for deleted rows`,
    ],
    [
      "audit log",
      "bytes",
      audit,
      `${daily} × ${days(auditDays)} (DRS_AUDIT_RETENTION) × ${bytes(event.audit)}: a commit batch has ${round(batchAt(perSecond))} events`,
    ],
    [
      "max_wal_size",
      "bytes",
      maxWal,
      `twice ${peakRate} × 15 minutes (checkpoint_timeout) × ${bytes(eventAtPeak.wal)}; at least 2 GiB`,
    ],
    ["base backup", "bytes", stored, "everything on the disk but WAL and free space"],
    [
      "WAL a day",
      "bytes",
      eventsPerDay * event.wal,
      `${daily} × ${bytes(event.wal)}, with wal_compression and data checksums: for an archive or a replica`,
    ],
    ["WAL a second", "bytes", atPeak * eventAtPeak.wal, `${peakRate} × ${bytes(eventAtPeak.wal)}`],
    [
      "commits a second",
      "count",
      Math.ceil(atPeak / batchAt(atPeak)),
      `${peakRate} in batches of ${round(batchAt(atPeak))}: the disk flushes its writes as often`,
    ],
    [
      "shared_buffers",
      "bytes",
      sharedBuffers,
      `${describeBytes(hotPages)} of index pages that any event may change: the ledger's key, and action ids of the newest partition; from 1 to 64 GiB`,
    ],
    [
      "memory",
      "bytes",
      2 * sharedBuffers + connections * MACHINE.connectionMemory + processes * MACHINE.processMemory,
      "twice shared_buffers, 10 MB a connection, 300 MB a process",
    ],
    [
      "random reads a second",
      "count",
      Math.ceil(atPeak * Math.max(0, 1 - sharedBuffers / hotPages)),
      `${peakRate}, and the share of these index pages that is not in shared_buffers`,
    ],
    [
      "cores",
      "count",
      Math.max(2, Math.ceil((serverCores + postgresCores) / BUSY_SHARE)),
      `${peakRate} use ${round(serverCores)} of the server and ${round(postgresCores)} of PostgreSQL, half are left for other work; at least 2`,
    ],
    ["processes", "count", processes, `DRS_PROCESSES: one uses at most ${BUSY_SHARE_OF_PROCESS} of a core`],
    ["partitions", "count", partitions.count, `one a ${partitions.unit} for each purpose, and those made ahead`],
    [
      "max_connections",
      "count",
      connections,
      `${pool + 4} a process, 6 of the admin API and the owner's login, 20 for commands, backups and monitoring`,
    ],
    [
      "max_locks_per_transaction",
      "count",
      Math.max(64, Math.ceil(locks / connections)),
      `a query over the partitions of a purpose locks ${locks} tables and indexes; at least 64`,
    ],
  ];
  return figures.map(([figure, unit, value, how]) => ({ figure, value: Math.round(value), unit, how }));
}

const grouped = (value: number): string => round(value).toLocaleString("en");
const round = (value: number): number => (value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
