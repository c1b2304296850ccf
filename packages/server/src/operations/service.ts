/** The standalone service: a system, an ingest core on it, and two listeners. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { actionTable } from "../actions/action-table.ts";
import { createAdminServer } from "../http/admin.ts";
import { createEndpointServer } from "../http/server.ts";
import { Admission } from "../ingest/admission.ts";
import { createIngest } from "../ingest/ingest.ts";
import { accountThrottle, failureThrottle } from "../ingest/throttle.ts";
import { openSessions } from "../sessions/sessions.ts";
import { BufferedAuditLog } from "../store/audit.ts";
import { BufferedDriftLog } from "../store/drift.ts";
import { PostgresEventStore } from "../store/event-store.ts";
import { faultLog } from "./fault-log.ts";
import { createMetrics } from "./metrics.ts";
import { readiness } from "./readiness.ts";
import type { System } from "./system.ts";

/** Code of the one purpose there is. */
const BUILT_IN_PURPOSE = 1;
const PARTITION_DAYS_AHEAD = 7;
const PREPARE_EVERY_MS = 3_600_000;

/** Failed authentications by source address: per second, and at once. */
const FAILURE_RATE = 10;
const FAILURE_BURST = 50;

export interface Service {
  readonly url: string;
  readonly adminUrl: string;
  /** Answers what was accepted, refuses new work, then stops. */
  stop(): Promise<void>;
}

export async function startService(system: System, logger: Logger): Promise<Service> {
  const { config, clock, pool, partitions } = system;
  const onFault = faultLog(logger);
  const admission = new Admission(config.DRS_MAX_REQUESTS, config.DRS_MAX_BUFFER_BYTES);
  const metrics = createMetrics(() => admission.requests);
  const audit = new BufferedAuditLog(pool, clock, onFault);
  const drift = new BufferedDriftLog(pool, clock, onFault);
  const store = new PostgresEventStore({
    database: system.database,
    executor: pool,
    partitions,
    onFault,
    onBatch: metrics.batchCommitted,
  });
  const ingest = createIngest(
    {
      sessions: openSessions(config, pool, clock),
      actions: actionTable(pool, clock),
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

  const prepare = (): Promise<void> => partitions.prepare(BUILT_IN_PURPOSE, clock.now(), PARTITION_DAYS_AHEAD);
  await prepare();
  const preparing = setInterval(() => void prepare().catch(onFault), PREPARE_EVERY_MS);

  const endpoint = createEndpointServer({
    ingest,
    proxyHops: config.DRS_TRUSTED_PROXY_HOPS,
    requestTimeout: config.DRS_REQUEST_TIMEOUT,
  });
  const admin = createAdminServer({
    readiness: () => readiness(system, admission.draining),
    metrics: async () => ({ type: metrics.registry.contentType, text: await metrics.registry.metrics() }),
  });
  await listen(endpoint, config.DRS_HOST, config.DRS_PORT, "DRS_PORT");
  await listen(admin, config.DRS_ADMIN_HOST, config.DRS_ADMIN_PORT, "DRS_ADMIN_PORT");

  return {
    url: urlOf(endpoint, config.DRS_HOST, "http"),
    adminUrl: urlOf(admin, config.DRS_ADMIN_HOST, "http"),
    async stop() {
      clearInterval(preparing);
      await Promise.race([
        admission.drain(),
        new Promise((resolve) => setTimeout(resolve, config.DRS_DRAIN_TIMEOUT).unref()),
      ]);
      await closeListener(endpoint);
      await audit.close();
      await drift.close();
      await store.close();
      await closeListener(admin);
    },
  };
}

function listen(server: Server, host: string, port: number, variable: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why = cause.code === "EADDRINUSE" ? "is taken by another program" : `can't be listened on (${cause.code})`;
      reject(new Error(`port ${port} on ${host} ${why}: choose another in ${variable}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
}

function urlOf(server: Server, host: string, scheme: string): string {
  const { port } = server.address() as AddressInfo;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function closeListener(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  });
}
