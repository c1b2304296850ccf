import type { Config } from "../../base/config/config.ts";
import type { Clock } from "../../base/ports.ts";
import { readPolicyVersion } from "../../purposes/policy-table.ts";
import type { RunStatement } from "../retention/run-table.ts";
import { listAcceptedSecretLosses } from "../../store/accounts/secret-losses.ts";
import { findRecalls } from "../../features/exports/recalls.ts";
import { declaredPeriod } from "../backups/backup-state.ts";
import { listLatestBackups, type TakenBackup } from "../backups/backup-table.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import type { ErasureRow } from "../erasure/erasure-table.ts";
import { listAcceptedEntryLosses, findLatestApplied } from "../journal/applied-entries.ts";
import { readInstallationId } from "../recovery/installation.ts";
import type { ReceiptSigner } from "./receipt-signer.ts";

/** States the limits of a receipt. */
const STATEMENT =
  "This attests what the system did and found at that time. It is no proof that no other copy of the data exists.";

export interface ReceiptPorts {
  readonly executor: Executor;
  readonly signer: Pick<ReceiptSigner, "sign">;
  readonly clock: Clock;
  /** The retention periods of backups of keys and of events, if they are declared. */
  readonly backups: Pick<Config["retention"], "keyBackupMs" | "backupMs">;
}

/**
 * Signs a receipt for an erasure.
 * @param at the time in RFC 3339 that the database records as `finished_at` or, for a final receipt, as `completed_at`.
 * @returns a JWS.
 */
export async function attestErasure(ports: ReceiptPorts, erasure: ErasureRow, at: string): Promise<string> {
  const { held, still_held, released, copies, destroyed_keys, lost_keys } = erasure;
  const hasKeys = destroyed_keys.length + lost_keys.length > 0;
  return ports.signer.sign({
    receipt: "erasure",
    ...(await receiptHeader(ports)),
    ...erasure,
    finished_at: erasure.finished_at ?? at,
    recalls: await recallsOf(ports.executor, erasure.erasure_id),
    completed_at: held > 0 && still_held + released === 0 ? at : null,
    backups: await backupHorizon(ports, Date.parse(at), {
      keys: hasKeys,
      // If the database knew no key of the subject, backups may have rows of the subject until the backups are deleted.
      rows: !hasKeys || held + copies > 0,
      waits: still_held + released > 0,
    }),
  });
}

/**
 * The exports that contain erased rows, and the times at which their recipients confirmed that they deleted these rows.
 */
async function recallsOf(executor: Executor, erasureId: string): Promise<readonly object[]> {
  const recalls = await findRecalls(executor, { erasureId });
  return recalls.map(({ export_id, recipient, rows, acknowledged_at }) => {
    return { export_id, recipient, rows: rows.length, acknowledged_at };
  });
}

/** Signs a receipt for a retention pass. @returns a JWS. */
export async function attestExpiry(ports: ReceiptPorts, run: RunStatement): Promise<string> {
  return ports.signer.sign({
    receipt: "expiry",
    ...(await receiptHeader(ports)),
    reason: "the periods of the policy, and holds that have ended",
    ...run,
    backups: await backupHorizon(ports, ports.clock.now(), {
      keys: run.secrets > 0,
      rows: run.deleted + run.copies > 0,
      waits: false,
    }),
  });
}

async function receiptHeader({ executor }: ReceiptPorts): Promise<Record<string, unknown>> {
  return {
    receipt_version: 1,
    installation: await readInstallationId(executor),
    policy_version: await readPolicyVersion(executor),
    // If a server starts with this receipt, the journal must still have this entry.
    journal: { ...(await findLatestApplied(executor)), accepted_losses: await listAcceptedEntryLosses(executor) },
    // Events that were sealed under these secrets could not be opened even before the erasure or expiry.
    secret_losses: await listAcceptedSecretLosses(executor),
    statement: STATEMENT,
  };
}

interface DeletedKinds {
  /** Whether secrets were destroyed or lost. */
  readonly keys: boolean;
  /** Whether rows were deleted whose secrets are needed for other rows. */
  readonly rows: boolean;
  /** Whether held copies still exist. */
  readonly waits: boolean;
}

/**
 * Computes the times after which no backup contains a readable payload, or an attribute, of the deleted data; `null` if
 * a period is not declared, or if held copies still exist. They rely on the declaration alone. `recorded` names the
 * latest recorded backups that may contain the data, and says until when they do.
 */
async function backupHorizon(ports: ReceiptPorts, from: number, { keys, rows, waits }: DeletedKinds): Promise<object> {
  const { backups } = ports;
  const after = (...periods: readonly (number | undefined)[]): string | null =>
    waits || periods.includes(undefined) ? null : new Date(from + Math.max(...periods.map(Number))).toISOString();
  const { keyBackupMs: ofKeys, backupMs: ofEvents } = backups;
  const recorded = await recordedBackups(ports, from, keys);
  return {
    payloads_unreadable_after: after(...(keys ? [ofKeys] : []), ...(rows || !keys ? [ofEvents] : [])),
    attributes_gone_after: after(ofEvents),
    recorded: recorded.map((backup) => (waits ? { ...backup, may_hold_until: null } : backup)),
  };
}

interface RecordedBackup extends TakenBackup {
  /** `null` if the period is not declared. */
  readonly may_hold_until: string | null;
}

/**
 * The latest backups of events, and of keys if secrets were destroyed, that began by a time, unless their declared periods
 * had ended then. Entries of the journal have no data of a subject, only keyed MACs and ids.
 */
async function recordedBackups(
  { executor, backups }: ReceiptPorts,
  until: number,
  keys: boolean,
): Promise<readonly RecordedBackup[]> {
  const stores = keys ? ["events", "keys"] : ["events"];
  const latest = await listLatestBackups(executor, until, 1);
  return latest.flatMap((backup) => {
    const periodMs = declaredPeriod(backup.store, backups);
    const end = periodMs === undefined ? undefined : Date.parse(backup.taken_at) + periodMs;
    if (!stores.includes(backup.store) || (end !== undefined && end <= until)) return [];
    return [{ ...backup, may_hold_until: end === undefined ? null : new Date(end).toISOString() }];
  });
}
