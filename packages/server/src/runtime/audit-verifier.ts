/** Verifies the audit log for callers of the admin API, and once a day. Only a worker has the MAC keys of all surfaces. */
import {
  cleanVerifications,
  findLastVerification,
  hasWaitingRow,
  listWaiting,
  recordEnd,
  recordProgress,
  requestVerification,
  type StoredVerification,
} from "../audit/verification-table.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { Loop } from "../base/loop.ts";
import type { OnError } from "../base/ports.ts";
import { tryLockSession } from "../store/postgres/advisory-locks.ts";
import { withOwner } from "../store/postgres/database.ts";
import type { OwnerConnection } from "../store/postgres/executor.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import type { CheckpointParts } from "./audit-log.ts";
import type { Installation } from "./open-installation.ts";
import { verifyAuditLog } from "./verify-audit.ts";

const LOOK_EVERY_MS = 1_000;
const SCHEDULE_EVERY_MS = 60_000;
const VERIFY_EVERY_MS = 86_400_000;

/** What a worker verifies the log with. */
export type VerifierParts = CheckpointParts & Pick<Installation, "database" | "pool">;

export class AuditVerifier {
  readonly #installation: VerifierParts;
  readonly #onError: OnError;
  readonly #loops: readonly Loop[];

  constructor(installation: VerifierParts, onError: OnError) {
    this.#installation = installation;
    this.#onError = onError;
    const report = (error: unknown): void => onError(error, "verify audit");
    this.#loops = [
      new Loop((signal) => this.#work(signal), { everyMs: LOOK_EVERY_MS, onError: report }),
      new Loop(() => this.#schedule(), { everyMs: SCHEDULE_EVERY_MS, onError: report }),
    ];
  }

  /** Interrupts a running verification. The next worker begins it again. */
  async close(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.close()));
  }

  /** Asks for a verification if the last one is a day old. */
  async #schedule(): Promise<void> {
    const { pool, audit, clock } = this.#installation;
    const signer = audit.verifications;
    const last = await findLastVerification(pool, signer);
    if (last?.endedAt && Date.parse(last.endedAt) > clock.now() - VERIFY_EVERY_MS) return;
    if ((await listWaiting(pool, signer)).length === 0) await requestVerification(pool, signer, { by: "server" });
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { pool, administration, audit } = this.#installation;
    const signer = audit.verifications;
    if (!(await hasWaitingRow(pool))) return;
    await withOwner(administration, async (owner) => {
      if (!(await tryLockSession(owner, LOCKS.auditVerification))) return;
      await cleanVerifications(owner, signer);
      const [next] = await listWaiting(owner, signer);
      if (next) await this.#verify(owner, next, signal);
    });
  }

  async #verify(owner: OwnerConnection, { id, request }: StoredVerification, signal: AbortSignal): Promise<void> {
    const { audit, checkpointSinks: sinks, clock } = this.#installation;
    await recordProgress(owner, id, 0);
    const onProgress = (items: number): Promise<void> => recordProgress(owner, id, items);
    const result = await verifyAuditLog(
      { ...this.#installation, sinks, keys: this.#installation, onProgress, signal },
      request,
    ).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      if (!(error instanceof OperatorError)) this.#onError(error, "verify audit");
      const { code, message } =
        error instanceof OperatorError
          ? error
          : new OperatorError("unexpected-error", "The worker could not verify the audit log: see its log.");
      return { verdict: 1, error: { code, message } };
    });
    if (!result) return;
    const endedAt = new Date(clock.now()).toISOString();
    await recordEnd(owner, audit.verifications, { id, endedAt, result: JSON.stringify(result) });
  }
}
