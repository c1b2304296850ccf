/** A place outside the events' database that keeps the checkpoints of the audit log. */
export interface CheckpointSink {
  /** The name for people, such as `erasure journal`. */
  readonly name: string;
  /** The latest checkpoint; `undefined` if the sink has none. @throws Unavailable */
  readCheckpoint(): Promise<string | undefined>;
  /** Stores the checkpoint as the latest one, and as the last one of its day. @throws Unavailable */
  writeCheckpoint(note: string, at: Date): Promise<void>;
  /** Tries whether the sink can be written. Absent if it is part of another store. @throws Unavailable */
  readonly requireWritable?: () => Promise<void>;
}

/** The day under which a checkpoint is kept, such as `2027-01-31`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
