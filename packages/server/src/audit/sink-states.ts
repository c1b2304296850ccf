/** The states of sinks, for a person who verifies the log. */
import type { CheckpointSink } from "./checkpoint-sink.ts";
import type { LogKey } from "./log/checkpoint.ts";
import { type EpochCheckpoint, verifyEpochCheckpoint } from "./log/epoch.ts";

export interface SinkState {
  readonly name: string;
  /**
   * `current`: the sink has the latest checkpoint of the database. `behind`: it has an earlier checkpoint or none.
   * `away`: it can't be read. `different`: it has a checkpoint that the database does not have.
   */
  readonly state: "current" | "behind" | "away" | "different";
  /** The number of entries that the sink's checkpoint covers. */
  readonly size: number;
}

/** A sink, and the text of its checkpoint, if it has one. */
export interface AskedSink {
  readonly name: string;
  readonly isAway: boolean;
  readonly note?: string | undefined;
}

export const askSink = (sink: CheckpointSink): Promise<AskedSink> =>
  sink.readCheckpoint().then(
    (note) => ({ name: sink.name, isAway: false, note }),
    () => ({ name: sink.name, isAway: true }),
  );

/** @param latest the latest checkpoint of the database, which must be read after the sink. */
export function stateOfSink({ name, isAway, note }: AskedSink, key: LogKey, latest: string | undefined): SinkState {
  const [kept, last] = [note, latest].map((text) =>
    text === undefined ? undefined : verifyEpochCheckpoint(text, key),
  );
  const size = kept?.size ?? 0;
  if (isAway) return { name, state: "away", size };
  if (note === latest) return { name, state: "current", size };
  const isBehind = note === undefined || (kept && last && isEarlier(kept, last));
  return { name, state: isBehind ? "behind" : "different", size };
}

const isEarlier = (one: EpochCheckpoint, other: EpochCheckpoint): boolean =>
  one.epoch < other.epoch || (one.epoch === other.epoch && one.size < other.size);
