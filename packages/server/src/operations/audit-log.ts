/** Operations for auditors who verify the audit log, or keep what others need to verify it. */
import type { Answer } from "@device-risk-signals/admin-api";
import { type CheckpointParts, checkpointNow, findLogKey } from "../runtime/audit-log.ts";
import type { Verified } from "../runtime/verify-audit.ts";
import { findLeaf, findPruned, lastCheckpoint, lastOfEpoch, listHashes, readLog } from "../audit/log-table.ts";
import { formatLogKey, type LogKey } from "../audit/log/checkpoint.ts";
import { verifyEpochCheckpoint } from "../audit/log/epoch.ts";
import { headerOf, lineOf } from "../audit/log/export-file.ts";
import { hashRanges, inclusionRanges } from "../audit/log/merkle.ts";
import { formatProof } from "../audit/log/proof-file.ts";
import {
  findLastVerification,
  findVerification,
  listWaiting,
  requestVerification,
  type StoredVerification,
} from "../audit/verification-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { inSnapshot, streamSnapshot } from "../store/postgres/database.ts";
import type { AuditPorts } from "./audit-around.ts";
import type { Operation } from "./operation.ts";
import type { Ports } from "./ports.ts";

/** What finds the public key of the log. */
type LogKeyPorts = "keys.codec" | "keys.secrets";

export const exportAudit: Operation<"exportAudit", "clock" | "database" | LogKeyPorts> = async ({ ports }) => {
  const key = await requireLogKey(ports);
  const exportedAt = new Date(ports.clock.now());
  const lines = streamSnapshot(ports.database, async function* (snapshot) {
    yield headerOf(key, exportedAt);
    for await (const item of readLog(snapshot)) yield lineOf(item);
  });
  return { answer: lines, audit: {} };
};

export const readProof: Operation<"readProof", "database" | LogKeyPorts> = async ({ ports, input }) => {
  const { entry_id: entryId } = input;
  const key = await requireLogKey(ports);
  const proof = await inSnapshot(ports.database, async (snapshot) => {
    const found = await findLeaf(snapshot, entryId);
    const last = found && (await lastOfEpoch(snapshot, found.epoch));
    if (!found || !last || !verifyEpochCheckpoint(last.note, key)) {
      throw new OperatorError("not-found", `No checkpoint has an entry ${entryId}.`);
    }
    const ranges = inclusionRanges(found.leaf, { start: 0, end: last.size });
    const pruned = await findPruned(snapshot);
    const before = pruned?.epoch === found.epoch ? pruned : undefined;
    const leaves = listHashes(snapshot, found.epoch, before?.size ?? 0, last.size);
    return formatProof({ index: found.leaf, hashes: await hashRanges(ranges, leaves, before), checkpoint: last.note });
  });
  return { answer: { proof }, audit: { detail: { entry_id: entryId } } };
};

type SigningPorts = "pool" | "usesOwnerLogin" | LogKeyPorts | `installation.${keyof CheckpointParts}`;

export const signCheckpoint: Operation<"signCheckpoint", SigningPorts> = async ({ ports }) => {
  if (ports.usesOwnerLogin) {
    const [error] = await checkpointNow(await ports.installation());
    if (error !== undefined) throw error;
  }
  const key = await requireLogKey(ports);
  const checkpoint = (await lastCheckpoint(ports.pool))?.note;
  // guard: a checkpoint that a login of the database wrote is not handed out
  if (checkpoint === undefined || !verifyEpochCheckpoint(checkpoint, key)) throw noCheckpoint();
  return { answer: { checkpoint }, audit: {} };
};

export const readAuditKey: Operation<"readAuditKey", LogKeyPorts> = async ({ ports }) => {
  const { origin, key } = await requireLogKey(ports);
  return { answer: { key: formatLogKey(origin, key) }, audit: {} };
};

export const startVerification: Operation<"startVerification", AuditPorts> = async ({ ports, caller, input }) => {
  const { verifications } = (await ports.keys()).audit;
  const waiting = await listWaiting(ports.pool, verifications);
  if (waiting.some(({ by }) => by === caller.person)) {
    throw new OperatorError("state-conflict", "A verification that you asked for has not ended: try again later.");
  }
  const id = await requestVerification(ports.pool, verifications, { ...input, by: caller.person });
  return { answer: { verification_id: id }, audit: { detail: { verification_id: id } } };
};

export const readVerification: Operation<"readVerification", "keys.codec" | AuditPorts> = async ({ ports, input }) => {
  const { audit, codec } = await ports.keys();
  const found = await findVerification(ports.pool, audit.verifications, input.verification_id);
  if (!found) throw new OperatorError("not-found", `There is no verification ${input.verification_id}.`);
  return { answer: shownVerification(found, codec.installation) };
};

export const readLastVerification: Operation<"readLastVerification", "keys.codec" | AuditPorts> = async ({ ports }) => {
  const { audit, codec } = await ports.keys();
  const found = await findLastVerification(ports.pool, audit.verifications);
  return { answer: { last: found ? shownVerification(found, codec.installation) : null } };
};

const shownVerification = (
  { id, state, requestedAt, endedAt, progress: read, result }: StoredVerification,
  installation: string,
): Answer<"readVerification"> => ({
  verification_id: id,
  installation,
  state,
  requested_at: requestedAt,
  ended_at: endedAt,
  read,
  result: result === null ? null : shownResult(JSON.parse(result) as StoredResult),
});

/** What the worker stored: what it found, or why it found nothing. */
type StoredResult = Partial<Omit<Verified, "verdict">> &
  Pick<Verified, "verdict"> & {
    readonly error?: { readonly code: string; readonly message: string };
  };

function shownResult({
  verdict,
  error,
  findings = [],
  size = 0,
  from = 0,
  confirmed = 0,
  waiting = 0,
  overdue = 0,
  lacksKeysOf,
  sinks = [],
}: StoredResult): NonNullable<Answer<"readVerification">["result"]> {
  return {
    verdict,
    error: error ?? null,
    findings: [...findings],
    size,
    from,
    confirmed,
    waiting,
    overdue,
    lacks_keys_of: lacksKeysOf ?? null,
    sinks: [...sinks],
  };
}

async function requireLogKey(ports: Ports<LogKeyPorts>): Promise<LogKey> {
  const key = await findLogKey(await ports.keys());
  if (key) return key;
  throw noCheckpoint();
}

const noCheckpoint = (): OperatorError =>
  new OperatorError("not-found", "The audit log has no checkpoint yet: run drs audit checkpoint.");
