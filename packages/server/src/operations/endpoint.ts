/** An ingest core wired onto a system: what the standalone service and every embedding host have in common. */
import { openActions } from "../actions/actions.ts";
import { EVENTS_PATH } from "../http/paths.ts";
import { Admission } from "../ingest/admission.ts";
import { createIngest, type Ingest } from "../ingest/ingest.ts";
import { accountThrottle, failureThrottle } from "../ingest/throttle.ts";
import type { ActionRegistry, SessionVerifier } from "../ports.ts";
import { PurposesInForce } from "../purposes/purposes-in-force.ts";
import { openSessions } from "../sessions/sessions.ts";
import { BufferedAuditLog } from "../store/audit.ts";
import { BufferedDriftLog } from "../store/drift.ts";
import { RetentionWorker } from "../retention/retention-worker.ts";
import { PostgresEventStore } from "../store/event-store.ts";
import { NoPartition } from "../store/partitions.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { readiness } from "./readiness.ts";
import { erasurePorts, type System } from "./system.ts";
import { traceCommit, traced } from "./tracing.ts";

const PARTITIONS_AHEAD = 7;
const PREPARE_EVERY_MS = 3_600_000;
/** Keys that were erased by another process are out of memory after this long. */
const FORGET_EVERY_MS = 1_000;

/** Failed authentications by source address: per second, and at once. */
const FAILURE_RATE = 10;
const FAILURE_BURST = 50;

export interface EndpointPorts {
  /** The host's own authentication; by default what the configuration asks for. */
  readonly sessions?: SessionVerifier;
  /** The host's own actions; by default what the configuration asks for. */
  readonly actions?: ActionRegistry;
  readonly onFault: (fault: unknown) => void;
}

export interface Endpoint {
  readonly ingest: Ingest;
  readonly metrics: Metrics;
  /** What keeps it from serving, each with a line for people; empty means ready. */
  readonly readiness: () => Promise<readonly string[]>;
  /** Refuses new requests; resolves when those that were accepted have their answers. */
  readonly drain: () => Promise<void>;
  /** Writes what is buffered and lets go of the database. */
  readonly close: () => Promise<void>;
}

export async function createEndpoint(system: System, ports: EndpointPorts): Promise<Endpoint> {
  const { config, clock, pool, partitions } = system;
  const { onFault } = ports;
  const admission = new Admission(config.DRS_MAX_REQUESTS, config.DRS_MAX_BUFFER_BYTES);
  const metrics = createMetrics(() => admission.requests);
  const audit = new BufferedAuditLog(pool, clock, onFault);
  const drift = new BufferedDriftLog(pool, clock, onFault);
  const purposes = await PurposesInForce.open(pool, onFault);
  const store = new PostgresEventStore({
    database: system.database,
    executor: pool,
    partitions,
    names: system.names,
    onStale: () => system.accountKeys.refresh(),
    onLost: () => {
      system.accountKeys.forget();
      partitions.forgetAll();
    },
    generation: () => system.accountKeys.generation,
    onFault,
    onBatch: (events, seconds) => {
      metrics.batchCommitted(events, seconds);
      traceCommit(events, seconds);
    },
  });
  const ingest = createIngest(
    {
      sessions: ports.sessions ?? openSessions(config, pool, clock),
      actions: ports.actions ?? openActions(config, pool, clock),
      purposes,
      accounts: system.accountKeys,
      store,
      sealer: system.sealer,
      audit,
      drift,
      meter: metrics,
      clock,
      admission,
      throttle: accountThrottle(config.DRS_THROTTLE_RATE, config.DRS_THROTTLE_BURST, clock),
      failures: failureThrottle(FAILURE_RATE, FAILURE_BURST, clock),
      onFault,
    },
    {
      maxBodyBytes: config.DRS_MAX_BODY_BYTES,
      maxAge: config.DRS_MAX_AGE,
      maxFuture: config.DRS_MAX_FUTURE,
      sessionBinding: config.DRS_SESSION_BINDING,
      adoptedFields: new Set(),
    },
  );

  const prepare = async (): Promise<void> => {
    for (const code of purposes.active) {
      await partitions.prepare(code, clock.now(), PARTITIONS_AHEAD).catch((fault: unknown) => {
        if (!(fault instanceof NoPartition)) throw fault;
        onFault(fault);
      });
    }
  };
  await prepare();
  const refreshing = setInterval(() => void system.accountKeys.refresh().catch(onFault), FORGET_EVERY_MS);
  refreshing.unref();
  const preparing = setInterval(() => void prepare().catch(onFault), PREPARE_EVERY_MS);
  preparing.unref();

  const retention = new RetentionWorker({
    database: system.database,
    executor: pool,
    ...erasurePorts(system),
    catchUp: () => system.catchUp(),
    everyMs: config.DRS_RETENTION_INTERVAL,
    onFault,
    onPass: metrics.retentionPassed,
  });

  return {
    ingest: traced(ingest, EVENTS_PATH),
    metrics,
    readiness: () => readiness(system, admission.draining),
    drain: () => admission.drain(),
    async close() {
      clearInterval(preparing);
      clearInterval(refreshing);
      purposes.close();
      await retention.close();
      await audit.close();
      await drift.close();
      await store.close();
    },
  };
}
