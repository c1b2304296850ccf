/**
 * Rotations of the key-encryption key. The secrets are in the key store; the events' database says how far a rotation
 * has come, because another process asks.
 */
import { randomUUID } from "node:crypto";
import { startedBy, type Work, WORK_READ } from "../../base/work.ts";
import type { Executor } from "../postgres/executor.ts";
import { instant } from "../postgres/instant.ts";
import { query, sql } from "../postgres/statement.ts";

export interface NewRotation {
  readonly actor: string;
  /** Number of secrets that are to be wrapped again. */
  readonly secrets: number;
  /** Whether a rotation that was interrupted is continued. */
  readonly continues: boolean;
}

/** More than a key store has. A count ends there, so that no number that a login inserts stops a rotation. */
const MOST = "1000000000000";
const CONTINUE = sql(
  `update key_rotation set secrets = least(wrapped + $1, ${MOST}) where finished_at is null returning rotation_id`,
  ["int8"],
  { rotation_id: "uuid" },
);
const END = sql("update key_rotation set finished_at = (select wall_clock_time()) where finished_at is null");
const INSERT = sql("insert into key_rotation (rotation_id, started_by, secrets) values ($1, $2, $3)", [
  "uuid",
  "text",
  "int8",
]);

/** Records a rotation that begins or continues. The caller has the maintenance lock. @returns its id. */
export async function recordRotation(executor: Executor, { actor, secrets, continues }: NewRotation): Promise<string> {
  const [interrupted] = continues ? (await query(executor, CONTINUE, [secrets])).rows : [];
  if (interrupted) return interrupted.rotation_id;
  await endRotations(executor);
  const rotationId = randomUUID();
  await query(executor, INSERT, [rotationId, actor, secrets]);
  return rotationId;
}

const ADD = sql(`update key_rotation set wrapped = least(wrapped + $2, ${MOST}) where rotation_id = $1`, [
  "uuid",
  "int8",
]);

export async function addWrapped(executor: Executor, rotationId: string, secrets: number): Promise<void> {
  await query(executor, ADD, [rotationId, secrets]);
}

/** Records that no rotation is left to continue. */
export async function endRotations(executor: Executor): Promise<void> {
  await query(executor, END);
}

const LIST = sql(
  `select rotation_id, ${instant("started_at")}, ${startedBy("started_by")}, wrapped, greatest(secrets, wrapped) as secrets
    from key_rotation r where finished_at is null order by r.started_at, rotation_id limit ${WORK_READ}`,
  [],
  { rotation_id: "uuid", started_at: "text", started_by: "text", wrapped: "int8", secrets: "int8" },
);

/** The rotation that has not ended. @param isMaintained whether a process has the maintenance lock. */
export async function listRotationWork(executor: Executor, isMaintained: boolean): Promise<readonly Work[]> {
  const { rows } = await query(executor, LIST);
  return rows.map(({ rotation_id, started_at, started_by, wrapped, secrets }) => ({
    kind: "rotation",
    id: rotation_id,
    state: isMaintained ? "running" : "waiting",
    done: wrapped,
    of: secrets,
    unit: "secrets",
    started_at,
    started_by,
    waits_for: isMaintained ? null : "a rotation that continues it: drs key rotate",
  }));
}
