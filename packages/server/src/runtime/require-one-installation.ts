/** Checks that the stores of an installation belong together. */
import type { CheckpointSink } from "../audit/checkpoint-sink.ts";
import { installationOfNote } from "../audit/log/origin.ts";
import type { Config } from "../base/config/config.ts";
import { KEY_STORE_WATERMARKS, type KeyStore } from "../store/crypto/key-store.ts";
import { OperatorError } from "../base/errors/operator-error.ts";

/**
 * Requires that the key store is new or belongs to the installation of the database. Called before the key store gets
 * the secrets of that installation. @throws stores-mixed
 */
export async function requireOwnKeys(config: Config, keyStore: KeyStore, id: string): Promise<void> {
  const other = await keyStore.readWatermark(KEY_STORE_WATERMARKS.installation);
  // guard: a new database takes over no key store of another one
  if (other !== undefined && other !== id) throw createMixedError(config, id, [["the key store", other]]);
}

/**
 * Requires that the checkpoints of the sinks are of this installation. A sink that can't be read is left to the monitors.
 * @throws stores-mixed
 */
export async function requireOwnCheckpoints(
  config: Config,
  sinks: readonly CheckpointSink[],
  id: string,
): Promise<void> {
  const foreign: Foreign[] = [];
  for (const sink of sinks) {
    const note = await sink.readCheckpoint().catch(() => undefined);
    const other = note === undefined ? undefined : installationOfNote(note);
    if (other !== undefined && other !== id) foreign.push([sink.name, other]);
  }
  // guard: checkpoints of another log would stop those of this one
  if (foreign.length > 0) throw createMixedError(config, id, foreign);
}

/** The name of a store, and the id of the installation to which it belongs. */
type Foreign = readonly [store: string, installation: string];

function createMixedError(config: Config, id: string, foreign: readonly Foreign[]): OperatorError {
  const others = foreign.map(([store, other]) => `${placeOf(config, store)} belongs to ${other}`).join(", ");
  const advice = config.embedded
    ? "Restore the stores that belong together, or delete all of them and start over: npm start -- --fresh"
    : "Name the stores that belong together, or restore them";
  return new OperatorError(
    "stores-mixed",
    `the stores are of different installations: the database belongs to ${id}, ${others}. ${advice}`,
  );
}

function placeOf({ keys, journal, audit }: Config, store: string): string {
  const folders: Readonly<Record<string, string | undefined>> = {
    "the key store": keys.directory,
    "the erasure journal": journal.directory,
    "the directory of DRS_AUDIT_CHECKPOINTS": audit.checkpointDirectory,
  };
  return folders[store] === undefined ? store : `${store} ${folders[store]}`;
}
