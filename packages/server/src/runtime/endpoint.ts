/** An ingest core on a system. The standalone service and every embedding host use it. */
import { Loop } from "../base/loop.ts";
import { NOTHING_ADOPTED } from "@device-risk-signals/contract/catalog/adopted";
import { openActions } from "../ingest/actions/actions.ts";
import { AdoptedFieldsFile } from "../ingest/adopted-fields/adopted-fields-file.ts";
import { EVENTS_PATH } from "../ingest/request.ts";
import { FieldsOfFeatures } from "../features/active-features.ts";
import { Admission } from "../ingest/admission.ts";
import { createIngest, type Ingest } from "../ingest/ingest.ts";
import { accountThrottle, failureThrottle, type SharedRate } from "../ingest/throttle.ts";
import {
  type ActionRegistry,
  type AdoptedFieldSet,
  isPartitionMissing,
  type MonotonicClock,
  type OnRejected,
  type SessionVerifier,
} from "../base/ports.ts";
import { ActivePurposes } from "../purposes/active-purposes.ts";
import { openSessions } from "../ingest/sessions/sessions.ts";
import { BufferedAuditLog } from "../audit/audit.ts";
import { BufferedOutcomeLog } from "../ingest/counters/outcomes.ts";
import { BufferedRejectionLog } from "../ingest/counters/rejections.ts";
import { BufferedRecentRejections } from "../ingest/recent-rejections/recent-rejections.ts";
import { BufferedDriftLog } from "../ingest/drift/drift.ts";
import { PostgresEventStore } from "../store/events/event-store.ts";
import { PARTITIONS_AHEAD, PREPARE_EVERY_MS } from "../store/events/partitions.ts";
import { countComparedPayloads } from "../store/events/read-events.ts";
import type { AdmissionExchange } from "./admission-exchange.ts";
import { forgetErasedKeys, type ServedParts, startMonitors, startWork, type WorkReports } from "./background.ts";
import { CloseStack } from "./close-stack.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { knownReadiness, type Readiness, readiness } from "../base/dependencies/readiness.ts";
import type { ThrottleExchange, ThrottleName } from "./throttle-exchange.ts";
import { traceCommit, traced } from "./tracing.ts";

const PREPARE_PARTITIONS = "prepare partitions";

const COUNT_COMPARED_EVERY_MS = 10_000;

/**
 * Limits for the comparisons of retries in canonical form, for one account: 1,000 in an hour, as a rate per second, and
 * bursts of 1,000.
 */
const COMPARISON_RATE = 1_000 / 3_600;
const COMPARISON_BURST = 1_000;
/** Limits for failed authentications of one source address: the sustained rate per second, and the largest burst. */
const FAILURE_RATE = 10;
const FAILURE_BURST = 50;

export interface EndpointPorts extends WorkReports {
  /** The host's own authentication. Default: the configured one. */
  readonly sessions?: SessionVerifier;
  /** The host's own actions. Default: the configured ones. */
  readonly actions?: ActionRegistry;
  /** The host's own adopted fields. Default: those of the configured file, or none. */
  readonly adopted?: AdoptedFieldSet;
  readonly onRejected?: OnRejected;
  /** The processes of a server that receive events together. Absent if this is the only process. */
  readonly shared?: SharedProcesses;
}

export interface SharedProcesses {
  readonly admission: AdmissionExchange;
  readonly throttles: ThrottleExchange;
}

export interface Endpoint {
  readonly ingest: Ingest;
  readonly metrics: Metrics;
  /** Whether the endpoint can store events now, and a line for each problem. Asks the database and the key store. */
  readonly readiness: () => Promise<Readiness>;
  /** Whether the endpoint can store events, by the latest state of each dependency, without a call. */
  readonly knownReadiness: () => Promise<Readiness>;
  /** Rejects new requests. Resolves when all accepted requests have their answers. */
  readonly drain: () => Promise<void>;
  /** Writes buffered data and closes the endpoint's own connections. Never rejects. */
  readonly close: () => Promise<void>;
}

const MONOTONIC_CLOCK: MonotonicClock = { now: () => performance.now() };

/** @throws adopted-fields-invalid if the file of adopted fields is not valid. */
export async function assembleEndpoint(system: ServedParts, ports: EndpointPorts): Promise<Endpoint> {
  const { config, clock, pool, partitions, dependencies } = system;
  const { onError, shared } = ports;
  await using opened = new CloseStack(onError, system.closing);
  const adopted = ports.adopted ?? (await openAdoptedFields(config.adoptedFieldsFile));
  const fields = await FieldsOfFeatures.open(pool, adopted, onError);
  opened.add("adopted features", () => fields.close());
  const admission = new Admission(config.limits.maxRequests, config.limits.maxBufferBytes, shared?.admission);
  const shareOf = (name: ThrottleName): SharedRate | undefined => shared?.throttles.of(name);
  const { ratePerSecond, burst } = config.throttle;
  const metrics = createMetrics(() => admission.requests, dependencies);
  const supervision = startMonitors(system, onError, opened);
  const purposes = await ActivePurposes.open(pool, onError);
  opened.add("purposes", () => purposes.close());
  const store = new PostgresEventStore({
    database: system.database,
    executor: pool,
    partitions,
    pseudonymizer: system.pseudonymizer,
    newLane: () => system.audit.lane(),
    canStore: () => dependencies.canStore,
    onStale: async () => {
      await Promise.all([system.accountKeys.refresh(), purposes.refresh()]);
    },
    onConnectionLost: () => {
      // guard(drop): after a failover account keys are asked for again
      system.accountKeys.clear();
      // guard(drop): after a failover partitions are asked for again
      partitions.clear();
      system.featurePartitions.clear();
    },
    generation: () => system.accountKeys.generation,
    onError,
    onBatch: (events, seconds) => {
      metrics.batchCommitted(events, seconds);
      traceCommit(events, seconds);
    },
  });
  opened.add("event store", () => store.close());
  startWork(system, supervision, metrics, ports, opened);
  const drift = new BufferedDriftLog(pool, clock, onError);
  opened.add("drift counts", () => drift.close());
  const outcomes = new BufferedOutcomeLog(pool, onError);
  opened.add("outcome counts", () => outcomes.close());
  const rejections = new BufferedRejectionLog(pool, clock, onError);
  opened.add("rejection counts", () => rejections.close());
  const recentRejections = new BufferedRecentRejections({
    executor: pool,
    monotonic: MONOTONIC_CLOCK,
    keyEpoch: () => system.accountKeys.keyEpoch,
    onError,
  });
  opened.add("recent rejections", () => recentRejections.close());
  // The audit is opened after the counts, so that it is written and closed before them, because it matters more.
  const audit = new BufferedAuditLog(pool, system.audit, onError);
  opened.add("audit", () => audit.close(dependencies.stopping));
  const ingest = createIngest(
    {
      sessions: ports.sessions ?? openSessions(config, pool, dependencies, clock),
      actions: ports.actions ?? openActions(config, pool, clock),
      purposes,
      accounts: system.accountKeys,
      store,
      sealer: system.sealer,
      audit,
      adopted: fields,
      drift,
      outcomes,
      rejections,
      recentRejections,
      meter: metrics,
      clock,
      admission,
      throttle: accountThrottle(ratePerSecond, burst, MONOTONIC_CLOCK, shareOf("account")),
      comparisons: accountThrottle(COMPARISON_RATE, COMPARISON_BURST, MONOTONIC_CLOCK, shareOf("comparison")),
      failures: failureThrottle(FAILURE_RATE, FAILURE_BURST, MONOTONIC_CLOCK, shareOf("failure")),
      onError,
      ...(ports.onRejected && { onRejected: ports.onRejected }),
    },
    {
      maxBodyBytes: config.limits.maxBodyBytes,
      bodyTimeout: config.limits.requestTimeoutMs,
      maxAge: config.limits.maxAgeMs,
      maxFuture: config.limits.maxFutureMs,
      sessionBinding: config.sessionBinding,
    },
  );

  const prepare = async (): Promise<void> => {
    for (const code of purposes.activeCodes) {
      await partitions.prepare(code, clock.now(), PARTITIONS_AHEAD).catch((error: unknown) => {
        if (!isPartitionMissing(error)) throw error;
        onError(error, PREPARE_PARTITIONS);
      });
    }
  };
  await prepare();
  const countCompared = async (): Promise<void> => metrics.payloadsCompared(await countComparedPayloads(pool));
  if (adopted instanceof AdoptedFieldsFile) {
    adopted.follow({
      onInvalid: (error) => onError(error, "follow adopted fields"),
      onLook: metrics.adoptedFieldsRead,
    });
    opened.add("adopted fields", () => adopted.close());
  }
  forgetErasedKeys(system, onError, opened);
  for (const [work, everyMs, operation] of [
    [countCompared, COUNT_COMPARED_EVERY_MS, "count compared payloads"],
    [prepare, PREPARE_EVERY_MS, PREPARE_PARTITIONS],
  ] as const) {
    const loop = new Loop(work, { everyMs, onError: (error) => onError(error, operation) });
    opened.add(operation, () => loop.close());
  }
  return {
    ingest: traced(ingest, EVENTS_PATH),
    metrics,
    readiness: () => readiness(system, admission.isDraining),
    knownReadiness: () => knownReadiness(system, admission.isDraining),
    drain: () => admission.drain(),
    close: opened.release(),
  };
}

async function openAdoptedFields(file: string | undefined): Promise<AdoptedFieldSet> {
  return file === undefined ? { current: NOTHING_ADOPTED } : AdoptedFieldsFile.open(file);
}
