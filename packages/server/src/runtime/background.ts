/** Background work of a server: monitors, and the work of a worker. */
import { AttestationWorker } from "../features/attest.ts";
import { ExtractionWorker } from "../features/extraction-worker.ts";
import { RetentionWorker } from "../lifecycle/retention-worker.ts";
import { Loop } from "../base/loop.ts";
import type { OnError } from "../base/ports.ts";
import { attestationSigner } from "./attestation-signer.ts";
import { AuditWatch } from "../audit/audit-watch.ts";
import { Monitor, type Pace } from "../base/dependencies/monitor.ts";
import { AuditSequencer } from "./audit-log.ts";
import { AuditVerifier, type VerifierParts } from "./audit-verifier.ts";
import type { CloseStack } from "./close-stack.ts";
import type { Metrics } from "./metrics.ts";
import { type Supervised, type Supervision, superviseDependencies } from "./supervision.ts";
import { roleOf } from "./served-surfaces.ts";
import { type ErasureParts, erasurePorts } from "./lifecycle-ports.ts";
import type { System } from "./system.ts";

/**
 * The interval at which a process forgets keys that another process has erased, and keys of partitions that were
 * dropped.
 */
const FORGET_EVERY_MS = 1_000;

/** Pauses between two looks at the audit log. */
const WATCH_PACE: Pace = { everyMs: 10_000, retryMs: 10_000 };

/** Starts the monitors of the dependencies. @param opened closes them. */
export function startMonitors(system: Supervised, onError: OnError, opened: CloseStack): Supervision {
  const supervision = superviseDependencies(system, onError);
  opened.add("monitors", () => supervision.close());
  return supervision;
}

/** The callbacks for what the work reports. */
export interface WorkReports {
  readonly onError: OnError;
  /** Called with the first audit checkpoint of each hour. */
  readonly onCheckpoint?: (note: string) => void;
}

/** What a process works with in the background and, with the partitions, serves events with. */
export type ServedParts = Supervised & WorkParts & Pick<System, "closing" | "clusterDirectory" | "featurePartitions">;

type WorkParts = ErasureParts & VerifierParts & Pick<System, "dependencies" | "surfaces">;

/**
 * Starts to watch the audit log. If the process is a worker, also starts retention passes, checkpoints of the audit log,
 * and the computation and attestation of features.
 * @param opened closes them.
 */
export function startWork(
  system: WorkParts,
  { inspect: replay }: Supervision,
  { retentionPassed: onPass, featuresExtracted: onExtracted, auditWatched: onState }: Metrics,
  { onError, onCheckpoint = () => {} }: WorkReports,
  opened: CloseStack,
): void {
  const { database, pool: executor, config, audit, clock, dependencies } = system;
  // The role of a process that serves only ingestion can't read the audit.
  if (roleOf(system.surfaces) === "drs_ingest") return;
  const watch = new AuditWatch({ executor, audit, clock, monotonic: { now: () => performance.now() }, onState });
  const monitor = new Monitor(dependencies.get("audit_log"), watch, WATCH_PACE);
  opened.add("monitor of the audit log", () => monitor.close());
  if (!system.surfaces.includes("worker")) return;
  const everyMs = config.retention.intervalMs;
  const retention = new RetentionWorker({
    database,
    executor,
    ...erasurePorts(system),
    replay,
    everyMs,
    onError,
    onPass,
  });
  opened.add("retention pass", () => retention.close());
  if (config.features.worker) {
    const extraction = new ExtractionWorker({ ...system, onError, onExtracted });
    opened.add("extraction of features", () => extraction.close());
    const attestation = new AttestationWorker({ ...system, sign: attestationSigner(system), onError });
    opened.add("attestation of features", () => attestation.close());
  }
  const verifier = new AuditVerifier(system, onError);
  opened.add("verification of the audit log", () => verifier.close());
  const sequencer = new AuditSequencer(system, watch, onError, onCheckpoint);
  opened.add("audit log", () => sequencer.close());
}

/** Regularly removes erased keys and keys of dropped partitions from memory. @param opened ends this. */
export function forgetErasedKeys(
  { sealer, featureSealer, accountKeys, clock }: Pick<System, "sealer" | "featureSealer" | "accountKeys" | "clock">,
  onError: OnError,
  opened: CloseStack,
): void {
  const forget = async (): Promise<void> => {
    sealer.evictKeys(clock.now());
    featureSealer.forgetKeys();
    await accountKeys.refresh();
  };
  const report = (error: unknown): void => onError(error, "refresh account keys");
  const loop = new Loop(forget, { everyMs: FORGET_EVERY_MS, onError: report });
  opened.add("erased keys in memory", () => loop.close());
}
