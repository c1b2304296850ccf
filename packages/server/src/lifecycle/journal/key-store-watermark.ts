import { OperatorError } from "../../base/errors/operator-error.ts";
import { KEY_STORE_WATERMARKS, type KeyStore } from "../../store/crypto/key-store.ts";
import { EMPTY_JOURNAL, type EntryReference } from "./journal.ts";

/**
 * Reads the sequence of the latest journal entry that was applied to the key store; 0 if none was.
 * @throws journal-watermark-damaged, Unavailable
 */
export async function readWatermark(keyStore: KeyStore): Promise<number> {
  const text = (await keyStore.readWatermark(KEY_STORE_WATERMARKS.applied)) ?? "0";
  // guard(false): a watermark that was cut is refused
  if (!/^\d{1,15}$/.test(text)) throw watermarkDamaged();
  return Number(text);
}

export async function writeWatermark(keyStore: KeyStore, sequence: number): Promise<void> {
  await keyStore.writeWatermark(KEY_STORE_WATERMARKS.applied, String(sequence));
}

/**
 * Reads the key store's reference to the latest entry that the journal has.
 * @throws journal-watermark-damaged, Unavailable
 */
export async function readLatestEntry(keyStore: KeyStore): Promise<EntryReference> {
  const text = await keyStore.readWatermark(KEY_STORE_WATERMARKS.journalHead);
  if (text === undefined) return EMPTY_JOURNAL;
  const [, sequence, digest] = /^(\d{1,15}) ([\da-f]{64})$/.exec(text) ?? [];
  if (sequence === undefined || digest === undefined) throw watermarkDamaged();
  return { sequence: Number(sequence), digest };
}

/**
 * Writes the key store's reference to the latest entry. The caller must hold the journal lock, so that the sequence
 * never decreases.
 */
export async function writeLatestEntry(keyStore: KeyStore, { sequence, digest }: EntryReference): Promise<void> {
  await keyStore.writeWatermark(KEY_STORE_WATERMARKS.journalHead, `${sequence} ${digest}`);
}

const watermarkDamaged = (): OperatorError =>
  new OperatorError("journal-watermark-damaged", "a watermark in the key store is not readable: restore the key store");
