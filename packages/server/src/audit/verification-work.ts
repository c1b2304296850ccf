import type { Work } from "../base/work.ts";
import type { RowSigner } from "../store/crypto/row-signer.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { listWaiting } from "./verification-table.ts";

/** Verifications of the audit log that have not ended, oldest first. */
export async function listVerificationWork(executor: Executor, signer: RowSigner): Promise<readonly Work[]> {
  return (await listWaiting(executor, signer)).map(({ id, by, state, progress, requestedAt }) => ({
    kind: "verification",
    id,
    state: state === "waiting" ? "waiting" : "running",
    done: progress,
    of: null,
    unit: "items of the audit log",
    started_at: requestedAt,
    started_by: by,
    waits_for: state === "waiting" ? "a worker, which verifies the log: see that a server runs" : null,
  }));
}
