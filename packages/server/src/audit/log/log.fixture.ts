import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import { ed25519Key } from "../../store/crypto/ed25519-key.ts";
import { formatLogKey, type LogKey, parseLogKey, signCheckpoint } from "./checkpoint.ts";
import { FIRST_EPOCH, originOfEpoch } from "./epoch.ts";
import { Lane, type LaneEntry, signOutsideLane, type SurfaceKey } from "../../store/audit-record/lane.ts";
import { CompactRange, leafHash } from "./merkle.ts";
import type { SignedRecord, Surface } from "../../store/audit-record/record.ts";
import type { SurfaceKeys } from "../../store/audit-record/surfaces.ts";
import type { LogItem } from "./verify.ts";

export const ORIGIN = "drs-audit/test";

const derived = (of: string): Buffer => Buffer.from(hkdfSync("sha256", "test", "", of, 32));

/** A private key of a log; another name gives another key. */
export const logKeyOf = (name: string): KeyObject => ed25519Key(derived(name));

export const PRIVATE_KEY = logKeyOf("log");
export const LOG_KEY = parseLogKey(formatLogKey(ORIGIN, PRIVATE_KEY)) as LogKey;

const surfaceKey = (surface: Surface): SurfaceKey => ({ surface, key: createSecretKey(derived(surface)) });
export const INGEST = surfaceKey("ingest");
export const DIRECT = surfaceKey("direct");
export const SURFACE_KEYS: SurfaceKeys = { ingest: INGEST.key, direct: DIRECT.key, admin: surfaceKey("admin").key };

const uuidOf = (number: number): string => `019a8f00-0000-7abc-8def-${String(number).padStart(12, "0")}`;

/** When the first entry was written; each later one is a millisecond later. */
export const STARTED = 1_763_769_600_000;

export const ingested = (number: number): LaneEntry => ({
  entryId: uuidOf(number),
  at: STARTED + number,
  actor: "endpoint",
  via: "server",
  operation: "event.create",
  outcome: "accepted",
  subjects: [Buffer.alloc(16, number)],
  eventIds: [uuidOf(number + 500_000)],
  occurrences: 1,
});

export const read = (number: number): LaneEntry => ({
  ...ingested(number),
  actor: "cli:anna",
  via: "direct",
  roles: ["investigator"],
  operation: "event.read_raw",
  outcome: "done",
  reason: "dispute 4711",
  detail: '{"bytes":12}',
});

/** The row of an entry in the database. */
export const storedOf = ({ bytes, mac }: SignedRecord): SignedRecord => ({ bytes, mac });

/**
 * Entries of two writers of ingestion, which sometimes continue in a new lane, and between them entries of reads, which
 * are in no lane.
 */
export function signedEntries(count: number): SignedRecord[] {
  const lanes = [new Lane(INGEST), new Lane(INGEST)];
  return Array.from({ length: count }, (_, number) => {
    if (number % 5 === 4) return storedOf(signOutsideLane(DIRECT, read(number)));
    const lane = lanes[number % 2] as Lane;
    const [signed] = lane.sign([ingested(number)]);
    lane.acknowledge();
    if (number % 11 === 10) lane.renew();
    return storedOf(signed as SignedRecord);
  });
}

export interface TestLog {
  readonly items: readonly LogItem[];
  /** The checkpoints, smallest first. */
  readonly notes: readonly string[];
}

/** The log of these entries, with a checkpoint after each of the sizes. */
export function logOf(
  entries: readonly SignedRecord[],
  sizes: readonly number[],
  key = PRIVATE_KEY,
  epoch = FIRST_EPOCH,
): TestLog {
  const tree = new CompactRange();
  const items: LogItem[] = [];
  const notes: string[] = [];
  entries.forEach((entry, index) => {
    const hash = leafHash(entry.bytes, entry.mac);
    tree.append(hash);
    items.push({ kind: "leaf", ...(epoch > FIRST_EPOCH && { epoch }), index, hash, entry });
    if (!sizes.includes(tree.size)) return;
    notes.push(signCheckpoint({ origin: originOfEpoch(ORIGIN, epoch), size: tree.size, root: tree.root() }, key));
    items.push({ kind: "checkpoint", note: notes.at(-1) ?? "" });
  });
  return { items, notes };
}

/** A later epoch, with one checkpoint at its end. */
export const inEpoch = (epoch: number, entries: readonly SignedRecord[]): TestLog =>
  logOf(entries, [entries.length], PRIVATE_KEY, epoch);
