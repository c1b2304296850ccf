/** Background work of a server: monitors, and the work of a worker. */
import { AttestationWorker } from "../features/attest.ts";
import { ExtractionWorker } from "../features/extraction-worker.ts";
import { RetentionWorker } from "../lifecycle/retention-worker.ts";
import type { OnError } from "../ports.ts";
import { attestationSigner } from "./attestation-signer.ts";
import { AuditSequencer } from "./audit-log.ts";
import type { CloseStack } from "./close-stack.ts";
import type { Metrics } from "./metrics.ts";
import { type Supervision, superviseDependencies } from "./supervision.ts";
import { erasurePorts, type System } from "./system.ts";

/**
 * The interval at which a process forgets keys that another process has erased, and keys of partitions that were
 * dropped.
 */
const FORGET_EVERY_MS = 1_000;

/** Starts the monitors of the dependencies. @param opened closes them. */
export function startMonitors(system: System, onError: OnError, opened: CloseStack): Supervision {
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

/**
 * If the process is a worker, starts retention passes, checkpoints of the audit log, and the computation and
 * attestation of features.
 * @param opened closes them.
 */
export function startWork(
  system: System,
  { inspect: replay }: Supervision,
  { retentionPassed: onPass, featuresExtracted: onExtracted }: Metrics,
  { onError, onCheckpoint = () => {} }: WorkReports,
  opened: CloseStack,
): void {
  if (!system.surfaces.includes("worker")) return;
  const { database, pool: executor, config } = system;
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
  const sequencer = new AuditSequencer(system, onError, onCheckpoint);
  opened.add("audit log", () => sequencer.close());
}

/** Regularly removes erased keys and keys of dropped partitions from memory. @param opened stops the timer. */
export function forgetErasedKeys(
  { sealer, featureSealer, accountKeys, clock }: Pick<System, "sealer" | "featureSealer" | "accountKeys" | "clock">,
  onError: OnError,
  opened: CloseStack,
): void {
  const timer = setInterval(() => {
    sealer.evictKeys(clock.now());
    featureSealer.forgetKeys();
    void accountKeys.refresh().catch((error: unknown) => onError(error, "refresh account keys"));
  }, FORGET_EVERY_MS);
  timer.unref();
  opened.add("timer", () => clearInterval(timer));
}
