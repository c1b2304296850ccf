import type { Config } from "../config/config.ts";
import type { Clock } from "../ports.ts";
import { policyVersion } from "../purposes/policy-table.ts";
import type { Expired } from "../retention/expiry.ts";
import type { Executor } from "../store/database.ts";
import type { ErasureRow } from "./erasures.ts";
import { installationId } from "./journal-head.ts";
import type { ReceiptSigner } from "./receipts.ts";

/** What a receipt is not. */
const STATEMENT =
  "This attests what the system did and found at that time. It is no proof that nothing of it exists elsewhere.";

export interface AttestPorts {
  readonly executor: Executor;
  readonly signer: ReceiptSigner;
  readonly clock: Clock;
  readonly config: Pick<Config, "DRS_KEY_BACKUP_RETENTION" | "DRS_BACKUP_RETENTION">;
}

/** A receipt for an erasure that is finished. @returns a JWS. */
export async function attestErasure(ports: AttestPorts, erasure: ErasureRow): Promise<string> {
  const now = ports.clock.now();
  return ports.signer.sign({
    receipt: "erasure",
    ...(await common(ports)),
    ...erasure,
    finished_at: new Date(now).toISOString(),
    backups: horizon(ports, Date.parse(erasure.began_at), erasure.destroyed_keys.length > 0),
  });
}

/** A receipt for a retention pass. @returns a JWS. */
export async function attestExpiry(
  ports: AttestPorts,
  run: Expired & { readonly run_id: string; readonly started_at: string; readonly actor: string },
): Promise<string> {
  return ports.signer.sign({
    receipt: "expiry",
    ...(await common(ports)),
    ...run,
    backups: horizon(ports, ports.clock.now(), run.secrets > 0),
  });
}

async function common({ executor }: AttestPorts): Promise<Record<string, unknown>> {
  return {
    receipt_version: 1,
    installation: await installationId(executor),
    policy_version: await policyVersion(executor),
    statement: STATEMENT,
  };
}

/** From when on backups hold nothing of it either, as far as their periods are declared. */
function horizon({ config }: AttestPorts, from: number, keysDestroyed: boolean): Record<string, string | null> {
  const after = (period: number | undefined): string | null =>
    period === undefined ? null : new Date(from + period).toISOString();
  return {
    payloads_unreadable_after: keysDestroyed
      ? after(config.DRS_KEY_BACKUP_RETENTION)
      : after(config.DRS_BACKUP_RETENTION),
    attributes_gone_after: after(config.DRS_BACKUP_RETENTION),
  };
}
