/** Verifies the audit log of a database and the checkpoints of its sinks. */
import { setImmediate } from "node:timers/promises";
import type { CheckpointSink } from "../audit/checkpoint-sink.ts";
import { findCheckpointAt, lastCheckpoint, readLog } from "../audit/log-table.ts";
import { parseLogKey } from "../audit/log/checkpoint.ts";
import { SURFACES } from "../store/audit-record/record.ts";
import { type LogItem, type Verification, verifyLog } from "../audit/log/verify.ts";
import { askSink, type SinkState, stateOfSink } from "../audit/sink-states.ts";
import { mayLackKeys } from "../audit/surface-keys.ts";
import type { VerificationRequest } from "../audit/verification-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Clock } from "../base/ports.ts";
import { type DatabaseOptions, inSnapshot } from "../store/postgres/database.ts";
import { findLogKey } from "./audit-log.ts";
import type { Keys } from "./open-keys.ts";

/** The result of a verification of a database. */
export interface Verified extends Verification {
  /** The id of the installation. */
  readonly installation?: string;
  readonly sinks?: readonly SinkState[];
}

export interface VerificationPorts {
  readonly database: DatabaseOptions;
  readonly clock: Clock;
  readonly sinks: readonly CheckpointSink[];
  /** Absent if the key store is away. Then hashes and checkpoints are verified with the key of the request. */
  readonly keys: Pick<Keys, "audit" | "codec" | "secrets"> | undefined;
  /** Called now and then with the number of items of the log that were read. */
  readonly onProgress?: (items: number) => Promise<void>;
  /** Ends the verification, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** @throws audit-unchecked if the key of the log is not known; key-file-unusable */
export async function verifyAuditLog(
  { database, clock, sinks, keys, onProgress = async () => {}, signal }: VerificationPorts,
  { checkpoints = [], since, key: keyText }: VerificationRequest,
): Promise<Verified> {
  const key = keyText === undefined ? keys && (await findLogKey(keys)) : parseLogKey(keyText);
  if (!key) {
    throw unchecked(
      "the key of the log is not known: the server makes it with the first checkpoint, about ten seconds after its first start. Try again then, or give the key with --key",
    );
  }
  // The sinks are read before the database. A checkpoint that is signed in between is then only in the database, and
  // the verification does not report the log as truncated.
  const askedSinks = await Promise.all(sinks.map(askSink));
  return inSnapshot(database, async (snapshot) => {
    const lacks = keys !== undefined && (await mayLackKeys(snapshot, keys.audit));
    if (lacks) keys.audit.requireKeys(SURFACES);
    const latest = (await lastCheckpoint(snapshot))?.note;
    const start = since === undefined ? undefined : await findCheckpointAt(snapshot, new Date(since));
    const result = await verifyLog(paced(readLog(snapshot, start), onProgress, signal), {
      key,
      outside: [...checkpoints, ...askedSinks.flatMap(({ note }) => (note === undefined ? [] : [note]))],
      ...(keys && { surfaces: keys.audit.surfaces, replaced: keys.audit.replaced }),
      mayLackKeys: lacks,
      now: clock.now(),
    });
    return {
      ...result,
      sinks: askedSinks.map((sink) => stateOfSink(sink, key, latest)),
    };
  });
}

export const unchecked = (what: string): OperatorError =>
  new OperatorError("audit-unchecked", `The audit log could not be checked: ${what}.`);

/** The number of items after which other work of the process gets its turn. */
const ITEMS_PER_TURN = 50;
const ITEMS_PER_REPORT = 20_000;

/** A server verifies while it answers requests, so no turn of the event loop may be long. */
async function* paced(
  items: AsyncIterable<LogItem>,
  onProgress: (items: number) => Promise<void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<LogItem> {
  let count = 0;
  for await (const item of items) {
    signal?.throwIfAborted();
    yield item;
    count++;
    if (count % ITEMS_PER_TURN === 0) await setImmediate();
    if (count % ITEMS_PER_REPORT === 0) await onProgress(count);
  }
}
