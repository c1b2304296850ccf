/** Extends and prunes the audit log of an installation, starts its epochs, and finds its public key. */
import { checkpointLog } from "../audit/checkpoint-log.ts";
import type { Agent } from "../audit/audit.ts";
import type { AuditWatch } from "../audit/audit-watch.ts";
import { originOf } from "../audit/log/origin.ts";
import { verifyEpochCheckpoint } from "../audit/log/epoch.ts";
import { type Pruned, pruneLog } from "../audit/prune.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { CheckpointSink } from "../audit/checkpoint-sink.ts";
import { formatLogKey, type LogKey, parseLogKey } from "../audit/log/checkpoint.ts";
import type { ReviewOrder } from "../audit/reviews.ts";
import { extendLog, type SequencerPorts, startEpoch, type StartedEpoch, type Unverified } from "../audit/sequencer.ts";
import { ed25519Key } from "../store/crypto/ed25519-key.ts";
import { Loop } from "../base/loop.ts";
import { plural } from "../base/messages/plural.ts";
import type { OnError } from "../base/ports.ts";
import { lockSession, tryLockSession } from "../store/postgres/advisory-locks.ts";
import { inOwnerTransaction, withClient, withOwner } from "../store/postgres/database.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import type { Installation } from "./open-installation.ts";

/** The name of the signing secret in the key store. */
const CHECKPOINT_KEY_SECRET = "audit checkpoints/1";
const EXTEND_EVERY_MS = 10_000;

/** What a checkpoint of the log is signed and stored with. */
export type CheckpointParts = Pick<
  Installation,
  "administration" | "audit" | "checkpointSinks" | "clock" | "codec" | "secrets"
>;

/** The public key of the log; `undefined` if no checkpoint has been signed yet. @throws Unavailable */
export async function findLogKey(keys: Pick<CheckpointParts, "codec" | "secrets">): Promise<LogKey | undefined> {
  const seed = await keys.secrets.find(CHECKPOINT_KEY_SECRET);
  return seed && parseLogKey(formatLogKey(originOf(keys.codec.installation), ed25519Key(seed)));
}

async function sequencerPorts(installation: Omit<CheckpointParts, "administration">): Promise<SequencerPorts> {
  const { clock, audit, checkpointSinks: sinks, secrets } = installation;
  const key = ed25519Key(await secrets.findOrCreate(CHECKPOINT_KEY_SECRET));
  const publicKey = parseLogKey(formatLogKey(originOf(installation.codec.installation), key));
  if (!publicKey) throw new Error("the key of the audit log has no readable form");
  return { clock, audit, key, publicKey, sinks };
}

/**
 * Extends the log. If another server or command is extending it, this call waits. @returns errors of sinks.
 * @throws audit-log-broken
 */
export async function checkpointNow(installation: CheckpointParts): Promise<readonly unknown[]> {
  const ports = await sequencerPorts(installation);
  const { errors } = await withOwner(installation.administration, async (owner) => {
    await lockSession(owner, LOCKS.auditLog);
    return extendLog(owner, ports);
  });
  return errors;
}

/** Starts the next epoch of a log whose database was restored. @throws what `startEpoch` throws */
export async function startEpochNow(installation: CheckpointParts, order: ReviewOrder): Promise<StartedEpoch> {
  const ports = await sequencerPorts(installation);
  return withOwner(installation.administration, async (owner) => {
    await lockSession(owner, LOCKS.auditLog);
    return startEpoch(owner, ports, order);
  });
}

type PruningParts = CheckpointParts & Pick<Installation, "config" | "database">;

/**
 * Deletes the entries that are older than the retention period of the audit.
 * @returns `undefined` if there are no such entries. @throws errors of a sink
 */
export async function pruneNow(installation: PruningParts, agent: Agent): Promise<Pruned | undefined> {
  const { administration, audit, config, database } = installation;
  const { retentionMs } = config.audit;
  const { publicKey, sinks } = await sequencerPorts(installation);
  return withClient(database, async (client) => {
    await lockSession(client, LOCKS.auditLog);
    const notes = await Promise.all(sinks.map((sink) => sink.readCheckpoint()));
    const kept = notes.map((note) => (note === undefined ? undefined : verifyEpochCheckpoint(note, publicKey)));
    return inOwnerTransaction(administration, (owner) => pruneLog(owner, audit, { agent, retentionMs, kept }));
  });
}

function reportOf({ count, entryId }: Unverified): readonly OperatorError[] {
  if (count === 0) return [];
  const entries = `${plural(count, "audit entry", "audit entries")} without a valid MAC, from entry ${entryId}`;
  return [
    new OperatorError(
      "audit-entry-unverified",
      `The log has got ${entries}: run drs audit verify, and see who has logins of the database.`,
    ),
  ];
}

/** Extends the log for a server every ten seconds, unless another server is extending it. */
export class AuditSequencer extends Loop {
  /** @param onCheckpoint is called with the first checkpoint of each hour. */
  constructor(
    installation: CheckpointParts,
    watch: AuditWatch,
    onError: OnError,
    onCheckpoint: (note: string) => void,
  ) {
    const log = checkpointLog(onCheckpoint);
    const report = (error: unknown): void => onError(error, "checkpoint audit");
    super(async () => (await extendWatched(installation, watch, log)).forEach(report), {
      everyMs: EXTEND_EVERY_MS,
      onError: (error) => {
        watch.failed(error);
        report(error);
      },
    });
  }
}

/** @returns errors of sinks, and an error if entries are unverified. */
function extendWatched(
  installation: CheckpointParts,
  watch: AuditWatch,
  log: CheckpointSink,
): Promise<readonly unknown[]> {
  return withOwner(installation.administration, async (owner) => {
    if (!(await tryLockSession(owner, LOCKS.auditLog))) {
      watch.passed([]);
      return [];
    }
    const ports = await sequencerPorts(installation);
    const extended = await extendLog(owner, { ...ports, sinks: [...ports.sinks, log] });
    watch.passed(extended.sinks.filter(({ name }) => name !== log.name));
    return [...extended.errors, ...reportOf(extended.unverified)];
  });
}
