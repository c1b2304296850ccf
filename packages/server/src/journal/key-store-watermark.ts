import { OperatorError } from "../errors/operator-error.ts";
import { KEY_STORE_WATERMARKS, type KeyStore } from "../crypto/key-store.ts";
import { EMPTY_JOURNAL, type EntryReference } from "./journal.ts";

/** Records what was applied to the key store. */
export interface Watermark {
  readonly sequence: number;
  /** Dropped partitions whose secrets it destroyed. */
  readonly partitions: number;
}

/** @throws journal-watermark-damaged, Unavailable */
export async function readWatermark(keyStore: KeyStore): Promise<Watermark> {
  const text = await keyStore.readWatermark(KEY_STORE_WATERMARKS.applied);
  const [, sequence, partitions] = /^(\d{1,15}) (\d{1,15})$/.exec(text ?? "0 0") ?? [];
  // guard(drop): a watermark that was cut is refused
  // fails: e2e/retention/pass.test.ts › a database that is older
  if (sequence === undefined || partitions === undefined) throw watermarkDamaged();
  return { sequence: Number(sequence), partitions: Number(partitions) };
}

export async function writeWatermark(keyStore: KeyStore, { sequence, partitions }: Watermark): Promise<void> {
  await keyStore.writeWatermark(KEY_STORE_WATERMARKS.applied, `${sequence} ${partitions}`);
}

/** The latest entry that the journal is known to have. @throws journal-watermark-damaged, Unavailable */
export async function readLatestEntry(keyStore: KeyStore): Promise<EntryReference> {
  const text = await keyStore.readWatermark(KEY_STORE_WATERMARKS.journalHead);
  if (text === undefined) return EMPTY_JOURNAL;
  const [, sequence, digest] = /^(\d{1,15}) ([\da-f]{64})$/.exec(text) ?? [];
  if (sequence === undefined || digest === undefined) throw watermarkDamaged();
  return { sequence: Number(sequence), digest };
}

/** Writes the latest entry. Only the holder of the journal's lock calls it, so the sequence never decreases. */
export async function writeLatestEntry(keyStore: KeyStore, { sequence, digest }: EntryReference): Promise<void> {
  await keyStore.writeWatermark(KEY_STORE_WATERMARKS.journalHead, `${sequence} ${digest}`);
}

const watermarkDamaged = (): OperatorError =>
  new OperatorError("journal-watermark-damaged", "a watermark in the key store is not readable: restore the key store");
