/** Epochs of a log. A database that was restored to an earlier state continues in a separate tree. */
import { type Checkpoint, type LogKey, verifyCheckpoint } from "./checkpoint.ts";
import type { AuditRecord } from "../../store/audit-record/record.ts";

export const FIRST_EPOCH = 1;

/** A checkpoint, and the epoch of its tree. */
export interface EpochCheckpoint extends Checkpoint {
  readonly epoch: number;
}

/** What the first entry of an epoch says about the end of the previous epoch. */
export interface EpochStart {
  /** The latest checkpoint that sinks had. */
  readonly kept: EpochCheckpoint;
  /** The latest checkpoint that the database had; absent if it had none. */
  readonly continued: EpochCheckpoint | undefined;
}

export const EPOCH_OPERATION = "audit.epoch";
/**
 * The operation that deletes the leaves before a checkpoint; the references of its entry name the checkpoint's epoch
 * and size.
 */
export const PRUNE_OPERATION = "audit.prune";
/** The operation that opens or closes a review of an entry; the references of its own entry name the reviewed one. */
export const REVIEW_OPERATION = "audit.review";

/**
 * The origin of an epoch's checkpoints: for the first epoch the origin of the key, for a later one the origin, `/` and
 * the epoch's number.
 */
export const originOfEpoch = (origin: string, epoch: number): string =>
  epoch === FIRST_EPOCH ? origin : `${origin}/${epoch}`;

/**
 * Verifies the signature of a checkpoint of any epoch. @returns `undefined` for a text that is no checkpoint or not
 * signed by the key.
 */
export function verifyEpochCheckpoint(note: string, { origin, key }: LogKey): EpochCheckpoint | undefined {
  const [name = ""] = note.split("\n", 1);
  const epoch = name === origin ? FIRST_EPOCH : epochOf(name, `${origin}/`);
  const checkpoint = epoch === undefined ? undefined : verifyCheckpoint(note, { origin: name, key });
  return checkpoint && epoch !== undefined ? { ...checkpoint, epoch } : undefined;
}

function epochOf(name: string, prefix: string): number | undefined {
  const number = name.slice(prefix.length);
  return name.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(number) && Number(number) > FIRST_EPOCH
    ? Number(number)
    : undefined;
}

/** The references of the first entry of an epoch. `kept` and `continued` are signed notes of checkpoints. */
export const epochReferences = (epoch: number, kept: string, continued?: string): Readonly<Record<string, string>> => ({
  epoch: String(epoch),
  kept,
  ...(continued !== undefined && { continued }),
});

/** @returns `undefined` if the record is not the first entry of this epoch. */
export function readEpochStart(record: AuditRecord | undefined, epoch: number, key: LogKey): EpochStart | undefined {
  if (record?.operation !== EPOCH_OPERATION) return undefined;
  const references = referencesOf(record);
  const kept = verifyEpochCheckpoint(references["kept"] ?? "", key);
  const note = references["continued"];
  const continued = note === undefined ? undefined : verifyEpochCheckpoint(note, key);
  if (references["epoch"] !== String(epoch) || !kept || kept.epoch >= epoch) return undefined;
  return note !== undefined && !continued ? undefined : { kept, continued };
}

/**
 * The references of an entry, which its record holds in `detail`. Members that are not texts are left out. If `detail`
 * is not valid JSON, there are no references.
 */
export function referencesOf({ detail = "{}" }: Pick<AuditRecord, "detail">): Readonly<Record<string, string>> {
  try {
    const entries = Object.entries(JSON.parse(detail) as object).filter(([, value]) => typeof value === "string");
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}
