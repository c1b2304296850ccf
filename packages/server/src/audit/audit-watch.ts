/** Watches that each audit entry gets into a signed checkpoint, each sink has it, and the last verification found nothing. */
import { OperatorError } from "../base/errors/operator-error.ts";
import { type Clock, type MonotonicClock, Unavailable } from "../base/ports.ts";
import { isTransient } from "../store/postgres/errors.ts";
import type { Executor } from "../store/postgres/executor.ts";
import type { AuditSigner } from "./audit-signer.ts";
import { findOldestUnsigned } from "./log-table.ts";
import type { PassedSink } from "./sequencer.ts";
import { findLastVerification } from "./verification-table.ts";
import type { Verdict } from "./log/verify.ts";

/** A state that lasts longer than this is a problem. The sequencer runs every ten seconds. */
export const LATE_MS = 120_000;
const LATE = "for more than 2 minutes";

export interface LastVerification {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly verdict: Verdict;
}

export interface AuditState {
  /** The age of the oldest entry that no signed checkpoint covers; 0 if there is none. */
  readonly unsignedMs: number;
  /** For how long each sink lacks the latest checkpoint. Empty in a process that signs none. */
  readonly sinks: readonly { readonly name: string; readonly lagMs: number }[];
  readonly verified: LastVerification | undefined;
}

export interface AuditWatchPorts {
  readonly executor: Executor;
  readonly audit: AuditSigner;
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly onState: (state: AuditState) => void;
}

export class AuditWatch {
  readonly #ports: AuditWatchPorts;
  /** The oldest entry without a checkpoint, and since when it is known. Its own time may be forged. */
  #oldest: { readonly entryId: string; readonly since: number } | undefined;
  /** The first of the passes that failed since the last one that succeeded, and the error of the last one. */
  #failing: { readonly since: number; readonly error: unknown } | undefined;
  /** When each sink was last known to have the latest checkpoint. */
  #sinks = new Map<string, number>();

  constructor(ports: AuditWatchPorts) {
    this.#ports = ports;
  }

  /** Call it after a pass of the sequencer. @param sinks empty if another worker is extending the log. */
  passed(sinks: readonly PassedSink[]): void {
    const now = this.#ports.monotonic.now();
    this.#failing = undefined;
    // Another worker had the log: what is known of the sinks stays.
    if (sinks.length === 0) return;
    this.#sinks = new Map(sinks.map(({ name, isCurrent }) => [name, isCurrent ? now : (this.#sinks.get(name) ?? now)]));
  }

  /** Call it if a pass of the sequencer failed. */
  failed(error: unknown): void {
    this.#failing = { since: this.#failing?.since ?? this.#ports.monotonic.now(), error };
  }

  /** @throws Unavailable that says what is wrong. */
  async ping(): Promise<void> {
    const problems = await this.#look().catch((error: unknown) => {
      // The database is a dependency of its own.
      if (isTransient(error)) return [];
      throw error;
    });
    if (problems.length === 0) return;
    const problem = problems.join("; ");
    throw new Unavailable(`the audit log ${problem}`, { code: "dependency-unusable", detail: { problem } });
  }

  async close(): Promise<void> {}

  async #look(): Promise<readonly string[]> {
    const { executor, audit, clock, monotonic, onState } = this.#ports;
    const oldest = await findOldestUnsigned(executor);
    const verified = await readLastVerification(executor, audit);
    const now = monotonic.now();
    const since = this.#oldest?.entryId === oldest?.entry_id ? this.#oldest?.since : undefined;
    this.#oldest = oldest && { entryId: oldest.entry_id, since: since ?? now };
    const sinks = [...this.#sinks].map(([name, current]) => ({ name, lagMs: now - current }));
    onState({ unsignedMs: oldest ? Math.max(0, clock.now() - oldest.written_at) : 0, sinks, verified });
    return [...this.#checkpointProblem(now), ...sinks.flatMap(sinkProblem), ...verificationProblem(verified)];
  }

  #checkpointProblem(now: number): readonly string[] {
    if (this.#failing && now - this.#failing.since > LATE_MS) {
      const { error } = this.#failing;
      return [
        error instanceof OperatorError ? error.message : `has had no checkpoint ${LATE}: see the log of the worker`,
      ];
    }
    if (!this.#oldest || now - this.#oldest.since <= LATE_MS) return [];
    return [`has had entries without a checkpoint ${LATE}: see that a worker runs, and its log`];
  }
}

const sinkProblem = ({ name, lagMs }: AuditState["sinks"][number]): readonly string[] =>
  lagMs > LATE_MS ? [`${name} has lacked the latest checkpoint ${LATE}`] : [];

export const verificationProblem = (verified: LastVerification | undefined): readonly string[] =>
  verified?.verdict === 6 ? ["the last verification found it broken: run drs audit verify"] : [];

export async function readLastVerification(
  executor: Executor,
  { verifications }: AuditSigner,
): Promise<LastVerification | undefined> {
  const last = await findLastVerification(executor, verifications);
  if (!last || last.endedAt === null) return undefined;
  const { verdict } = JSON.parse(last.result ?? "{}") as { readonly verdict?: Verdict };
  return { at: Date.parse(last.endedAt), verdict: verdict ?? 1 };
}
