/** The standalone service: an endpoint and two listeners. */
import type { Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { OperatorError } from "../errors/operator-error.ts";
import type { Config } from "../config/config.ts";
import { createAdminApi } from "../admin/admin-api.ts";
import { OrderWorker } from "../admin/order-worker.ts";
import { portsOf } from "../admin/operations/ports.ts";
import { isLoopback } from "../config/rules.ts";
import { settingOf } from "../config/settings.ts";
import { createAdminServer } from "../http/admin.ts";
import { ADMIN_OPENAPI_JSON } from "../http/openapi.ts";
import { createEndpointServer, type TlsFiles } from "../http/server.ts";
import { type FollowedTls, followTlsFiles, readTlsFiles, type TlsPaths } from "../http/tls.ts";
import { openAdminConnection } from "../app/admin-connection.ts";
import { CloseStack } from "../app/close-stack.ts";
import { openSignIn } from "./open-sign-in.ts";
import { assembleEndpoint, type Endpoint } from "../app/endpoint.ts";
import { createErrorLog } from "../app/error-log.ts";
import { withSurfaces } from "../app/served-surfaces.ts";
import { assembleWithoutIngestion } from "../app/without-ingestion.ts";
import type { System } from "../app/system.ts";

export interface Service {
  /** Absent where the process takes no events. */
  readonly url?: string;
  readonly adminUrl: string;
  /** Reads the certificate files, the role file and the key-encryption key again, where they are held in memory. */
  readonly reload: () => void;
  /** Answers accepted requests, refuses new ones, then stops. */
  readonly stop: () => Promise<void>;
}

export async function startService(system: System, logger: Logger): Promise<Service> {
  const { surfaces } = system;
  const { service } = system.config;
  const onError = createErrorLog(logger);
  system.dependencies.onChange(({ name, problems }) => {
    if (problems.length === 0) logger.info({ dependency: name }, "dependency is up");
    else logger.warn({ dependency: name, problems }, "dependency is down");
  });
  const follow = (server: Server, tls: OpenedTls | undefined, what: string): FollowedTls => {
    if (!tls) return NO_TLS;
    return followTlsFiles(server as TlsServer, tls.paths, (error) => {
      if (error === undefined) logger.info(`${what} reloaded`);
      else onError(error, `reload ${what}`);
    });
  };
  await using opened = new CloseStack(onError, system.closing);
  await using serving = new CloseStack(onError, system.closing);
  await using administering = new CloseStack(onError, system.closing);
  const reports = {
    onError,
    onCheckpoint: (checkpoint: string) => logger.info({ checkpoint }, "audit checkpoint"),
  };
  const takesEvents = surfaces.includes("ingest");
  const tls = takesEvents ? await openTls(service.tls, "service.tls") : undefined;
  const endpoint: Omit<Endpoint, "ingest"> & Partial<Endpoint> = takesEvents
    ? await assembleEndpoint(system, reports)
    : await assembleWithoutIngestion(system, reports);
  serving.add("endpoint", () => endpoint.close());

  const orders = surfaces.includes("worker") ? new OrderWorker({ system, onError }) : undefined;
  if (orders) serving.add("orders", () => orders.close());

  const adminTls = await openTls(service.admin.tls, "service.admin.tls");
  const signIn = surfaces.includes("admin") ? await openSignIn(system, administering) : undefined;
  const api = surfaces.includes("admin")
    ? await createAdminApi({
        ports: portsOf(system, await openAdminConnection(system, onError, administering), () => orders?.wake()),
        ...(signIn && { signIn }),
        document: ADMIN_OPENAPI_JSON,
        isClearAllowed: isLoopback(service.admin.host),
        onError,
      })
    : undefined;
  const { registry } = endpoint.metrics;
  const admin = createAdminServer({
    ...(api && { api }),
    ...(adminTls && { tls: adminTls.files }),
    hosts: [service.admin.host, ...(service.admin.hostNames ?? []), ...(signIn ? [signIn.hostName] : [])].map((name) =>
      name.toLowerCase(),
    ),
    readiness: async () => withSurfaces(await endpoint.readiness(), surfaces),
    onError,
    metrics: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  });
  // Health is answered until the end.
  opened.add("admin listener", () => closeListener(admin));
  const closeAll = [serving.release(), administering.release()];
  opened.add("endpoint and admin database", () => Promise.all(closeAll.map((close) => close())));
  let withinMs = 0;
  const followed: FollowedTls[] = [];
  let url: string | undefined;
  if (endpoint.ingest) {
    const listener = createEndpointServer({
      ingest: endpoint.ingest,
      proxyHops: service.proxyHops,
      requestTimeout: service.requestTimeoutMs,
      onError,
      ...(tls && { tls: tls.files }),
    });
    opened.add("listener", () => closeListener(listener, withinMs));
    await listen(listener, service.host, service.port, "choose another in DRS_PORT");
    followed.push(follow(listener, tls, "certificate"));
    url = urlOf(listener, service.host, tls);
  }
  await listen(admin, service.admin.host, service.admin.port, "choose another in DRS_ADMIN_PORT");
  followed.push(follow(admin, adminTls, "admin certificate"));
  for (const one of followed) opened.add("certificate files", () => one.close());
  const close = opened.release();
  return {
    ...(url !== undefined && { url }),
    adminUrl: urlOf(admin, service.admin.host, adminTls),
    reload() {
      for (const one of followed) one.reload();
      signIn?.roleFile.reload().then(
        () => logger.info("role file reloaded"),
        (error: unknown) => onError(error, "reload role file"),
      );
      system.keyEncryption.reload().then(
        (isHeld) => isHeld && logger.info("key-encryption key reloaded"),
        (error: unknown) => onError(error, "reload key-encryption key"),
      );
    },
    async stop() {
      const deadline = service.drainTimeoutMs;
      // Calls that still wait a second after the deadline are abandoned.
      setTimeout(() => system.dependencies.abandon(), deadline + CLOSE_WITHIN_MS).unref();
      const drained = endpoint.drain().then(() => true);
      const isDrained = await Promise.race([drained, sleep(deadline, false, { ref: false })]);
      if (isDrained) withinMs = CLOSE_WITHIN_MS;
      await close();
    },
  };
}

interface OpenedTls {
  readonly paths: TlsPaths;
  readonly files: TlsFiles;
}

async function openTls(
  files: Pick<Config["service"]["tls"], "certFile" | "keyFile">,
  group: "service.tls" | "service.admin.tls",
): Promise<OpenedTls | undefined> {
  const paths = tlsPathsOf(files, group);
  return paths && { paths, files: await readTlsFiles(paths) };
}

const NO_TLS: FollowedTls = { reload: () => {}, close: () => {} };

function tlsPathsOf(
  { certFile: cert, keyFile: key }: Pick<Config["service"]["tls"], "certFile" | "keyFile">,
  group: "service.tls" | "service.admin.tls",
): TlsPaths | undefined {
  if (cert === undefined || key === undefined) return undefined;
  const variables = {
    cert: settingOf(`${group}.certFile`).variable,
    key: settingOf(`${group}.keyFile`).variable,
  };
  return { cert, key, variables };
}

function listen(server: Server, host: string, port: number, advice: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => {
      const why = cause.code === "EADDRINUSE" ? "is taken by another program" : `can't be listened on (${cause.code})`;
      reject(
        new OperatorError("listener-failed", `port ${port} on ${host} ${why}: ${advice}`, {
          cause,
        }),
      );
    };
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}

function urlOf(server: Server, host: string, tls: OpenedTls | undefined): string {
  const { port } = server.address() as AddressInfo;
  return `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Time limit for closing after all requests are answered, or their time is over. */
const CLOSE_WITHIN_MS = 1_000;

function closeListener(server: Server, withinMs = CLOSE_WITHIN_MS): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), withinMs).unref();
  });
}
