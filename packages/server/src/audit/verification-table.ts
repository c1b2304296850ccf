/**
 * Verifications of the audit log as rows. A caller of the admin API asks for one, and a worker, which has the MAC keys of
 * all surfaces, carries it out. A login of the database can insert rows, but it can't make a MAC.
 */
import { randomUUID } from "node:crypto";
import type { RowSigner } from "../store/crypto/row-signer.ts";
import type { Executor, OwnerExecutor } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { query, type RowOf, sql } from "../store/postgres/statement.ts";

/** What a verification compares, beyond what the database and the sinks have. */
export interface VerificationRequest {
  /** Checkpoints that the caller has kept. */
  readonly checkpoints?: readonly string[];
  /** Start at the last checkpoint at or before this time; RFC 3339. */
  readonly since?: string;
  /** The key of the log, as the caller knows it. */
  readonly key?: string;
}

const INSERT = sql(
  "insert into audit_verification (verification_id, requested_by, request, request_mac) values ($1, $2, $3, $4)",
  ["uuid", "text", "text", "bytea"],
);

/** Asks a worker for a verification. @returns its id. */
export async function requestVerification(
  executor: Executor,
  signer: RowSigner,
  { by, ...request }: VerificationRequest & { readonly by: string },
): Promise<string> {
  const row = { verification_id: randomUUID(), requested_by: by, request: JSON.stringify(request) };
  const values = [row.verification_id, row.requested_by, row.request] as const;
  await query(executor, INSERT, [...values, signer.sign(requestValues(row))]);
  return row.verification_id;
}

const TYPES = {
  verification_id: "uuid",
  requested_by: "text",
  request: "text",
  requested_at: "text",
  request_mac: "bytea",
  started_at: "text?",
  progress: "int8",
  ended_at: "text?",
  result: "text?",
  result_mac: "bytea?",
} as const;
type Row = RowOf<typeof TYPES>;
const COLUMNS = `verification_id, requested_by, request, ${instant("requested_at")}, request_mac, ${instant("started_at")},
  progress, ${instant("ended_at")}, result, result_mac`;

const FIND = sql(`select ${COLUMNS} from audit_verification where verification_id = $1`, ["uuid"], TYPES);
/** Maximum number of rows that a statement reads, because a login of the database can insert any number. */
const PAGE = 100;
const LIST_WAITING = sql(
  `select ${COLUMNS} from audit_verification where ended_at is null order by requested_at, verification_id limit ${PAGE}`,
  [],
  TYPES,
);
const LIST_ENDED = sql(
  `select ${COLUMNS} from audit_verification where ended_at is not null order by ended_at desc limit ${PAGE}`,
  [],
  TYPES,
);

export interface StoredVerification {
  readonly id: string;
  readonly by: string;
  /** RFC 3339. */
  readonly requestedAt: string;
  readonly request: VerificationRequest;
  readonly state: "waiting" | "running" | "ended";
  /** The number of items of the log that were read. */
  readonly progress: number;
  /** RFC 3339. */
  readonly endedAt: string | null;
  /** JSON that the worker stored; `null` before the end. */
  readonly result: string | null;
}

/** @returns `undefined` if there is no such verification, or if the server did not sign it. */
export async function findVerification(
  executor: Executor,
  signer: RowSigner,
  id: string,
): Promise<StoredVerification | undefined> {
  return (await query(executor, FIND, [id])).rows.flatMap((row) => storedOf(signer, row))[0];
}

/** The verifications that have not ended, oldest first. */
export async function listWaiting(executor: Executor, signer: RowSigner): Promise<readonly StoredVerification[]> {
  return (await query(executor, LIST_WAITING)).rows.flatMap((row) => storedOf(signer, row));
}

const HAS_WAITING = sql("select exists (select 1 from audit_verification where ended_at is null) as waits", [], {
  waits: "bool",
});

/** Whether there is a row that waits, signed or not. */
export async function hasWaitingRow(executor: Executor): Promise<boolean> {
  return (await query(executor, HAS_WAITING)).rows[0]?.waits ?? false;
}

/** The last verification that ended. Only the owner's login ends verifications. */
export async function findLastVerification(
  executor: Executor,
  signer: RowSigner,
): Promise<StoredVerification | undefined> {
  return (await query(executor, LIST_ENDED)).rows.flatMap((row) => storedOf(signer, row))[0];
}

const DELETE_FORGED = sql("delete from audit_verification where verification_id = any ($1)", ["uuid[]"]);
const DELETE_OLD = sql("delete from audit_verification where requested_at < transaction_time() - interval '30 days'");

/** Deletes requests that the server did not sign, and rows of verifications that are older than 30 days. */
export async function cleanVerifications(owner: OwnerExecutor, signer: RowSigner): Promise<void> {
  const { rows } = await query(owner, LIST_WAITING);
  const forged = rows.filter((row) => storedOf(signer, row).length === 0);
  await query(owner, DELETE_FORGED, [forged.map(({ verification_id }) => verification_id)]);
  await query(owner, DELETE_OLD);
}

const RECORD_PROGRESS = sql(
  `update audit_verification set started_at = coalesce(started_at, (select transaction_time())), progress = $2
    where verification_id = $1`,
  ["uuid", "int8"],
);

export async function recordProgress(owner: OwnerExecutor, id: string, progress: number): Promise<void> {
  await query(owner, RECORD_PROGRESS, [id, progress]);
}

const RECORD_END = sql(
  "update audit_verification set ended_at = $2, result = $3, result_mac = $4 where verification_id = $1",
  ["uuid", "timestamptz", "text", "bytea"],
);

/** @param result JSON. */
export async function recordEnd(
  owner: OwnerExecutor,
  signer: RowSigner,
  end: { readonly id: string; readonly endedAt: string; readonly result: string },
): Promise<void> {
  await query(owner, RECORD_END, [end.id, end.endedAt, end.result, signer.sign(resultValues(end))]);
}

function storedOf(signer: RowSigner, row: Row): readonly StoredVerification[] {
  const { verification_id: id, requested_at: requestedAt, ended_at: endedAt, result, result_mac: mac, progress } = row;
  // guard: a login of the database neither asks for a verification nor makes its result
  if (!signer.isSigned(requestValues(row), row.request_mac)) return [];
  const isEnded = endedAt !== null && result !== null && mac !== null;
  if (isEnded && !signer.isSigned(resultValues({ id, endedAt, result }), mac)) return [];
  const request = JSON.parse(row.request) as VerificationRequest;
  const state = isEnded ? "ended" : row.started_at === null ? "waiting" : "running";
  return [
    { id, by: row.requested_by, requestedAt, request, state, progress, endedAt, result: isEnded ? result : null },
  ];
}

const requestValues = ({
  verification_id,
  requested_by,
  request,
}: Pick<Row, "verification_id" | "requested_by" | "request">) =>
  ["verification", verification_id, requested_by, request] as const;

const resultValues = ({
  id,
  endedAt,
  result,
}: {
  readonly id: string;
  readonly endedAt: string;
  readonly result: string;
}) => ["verification result", id, endedAt, result] as const;
