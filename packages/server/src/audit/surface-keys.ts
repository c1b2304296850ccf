/** The MAC keys of surfaces in the log: finds the active keys, and changes them. */
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { query, sql } from "../store/postgres/statement.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { type Agent, type AuditEntry, writeAudit } from "./audit.ts";
import { KEYS_OPERATION, keyReferences, mayChangeKeys } from "./log/active-keys.ts";
import { decodeRecord, type Surface, SURFACES } from "../store/audit-record/record.ts";
import { referencesOf } from "./log/epoch.ts";
import { surfaceKeyId } from "../store/audit-record/surfaces.ts";

/** Ids of the keys, by surface. */
type KeyIds = Readonly<Record<Surface, string>>;

const SERVER_AGENT: Agent = { actor: "server", via: "server" };

const LIST_CHANGES = sql(
  `select e.record, e.mac, l.epoch, l.leaf from audit_entry e left join audit_leaf l on l.entry_id = e.entry_id
    where e.operation = '${KEYS_OPERATION}' and l.verified is distinct from false order by l.epoch desc nulls first, l.leaf desc, e.entry_id desc`,
  [],
  { record: "bytea", mac: "bytea", epoch: "int4?", leaf: "int8?" },
);
const FIND_LOGGED = sql(
  `select e.record from audit_entry e join audit_leaf l on l.entry_id = e.entry_id
    where e.operation = '${KEYS_OPERATION}' and l.verified order by l.epoch desc, l.leaf desc limit 1`,
  [],
  { record: "bytea" },
);

/** A change of keys. */
export interface Change {
  readonly ids: KeyIds;
  /** The position in the log; `null` if the entry is in no leaf yet. */
  readonly epoch: number | null;
  readonly leaf: number | null;
}

/**
 * Finds the last change of keys whose entry has the MAC of a key of the key file.
 * @returns `undefined` if there is none, as while derived keys are active.
 */
export async function findLastChange(executor: Executor, signer: AuditSigner): Promise<Change | undefined> {
  for (const { record: bytes, mac, epoch, leaf } of (await query(executor, LIST_CHANGES)).rows) {
    const record = decodeRecord(bytes);
    const isChange = record && mayChangeKeys(record.surface) && signer.hasOwnKey(record.surface, { bytes, mac });
    // guard(true): a login that inserts entries changes no keys
    if (isChange) return { ids: referencesOf(record), epoch, leaf };
  }
  return undefined;
}

/** The ids of the keys, by surface, that the last change in the log activated. */
export async function findLoggedKeys(executor: Executor): Promise<Readonly<Record<string, string>> | undefined> {
  const [row] = (await query(executor, FIND_LOGGED)).rows;
  const record = row && decodeRecord(row.record);
  return record && referencesOf(record);
}

export const keysEntry = (active: KeyIds, next: KeyIds, agent = SERVER_AGENT): AuditEntry => ({
  ...agent,
  operation: KEYS_OPERATION,
  outcome: "done",
  references: keyReferences(active, next),
});

const idsOf = (idOf: (surface: Surface) => string): KeyIds =>
  Object.fromEntries(SURFACES.map((surface) => [surface, idOf(surface)])) as Record<Surface, string>;

/**
 * Activates the keys of the key file. After this entry, verifiers refuse entries with the previous keys.
 * @returns `false` if these keys are active already. @throws key-file-unusable, state-conflict
 */
export async function changeSurfaceKeys(transaction: Transaction, signer: AuditSigner, agent: Agent): Promise<boolean> {
  const { surfaces, replaced } = signer;
  if (Object.keys(replaced).length === 0) {
    throw new OperatorError("state-conflict", "DRS_AUDIT_KEY_FILE is not set: all keys are derived.");
  }
  signer.requireKeys(SURFACES);
  const idOf = (surface: Surface, keys = surfaces[surface]): string => (keys ? surfaceKeyId(keys) : "");
  const nextIds = idsOf((surface) => idOf(surface));
  const lastChange = await findLastChange(transaction, signer);
  const active = lastChange?.ids ?? idsOf((surface) => idOf(surface, replaced[surface]?.[0]));
  if (SURFACES.every((surface) => active[surface] === nextIds[surface])) return false;
  await writeAudit(transaction, signer, keysEntry(active, nextIds, agent));
  return true;
}

/** Whether there are entries that activate keys, and this process can verify none of them. */
export async function mayLackKeys(executor: Executor, signer: AuditSigner): Promise<boolean> {
  const { rowCount } = await query(executor, LIST_CHANGES);
  return rowCount !== 0 && (await findLastChange(executor, signer)) === undefined;
}
