/** The standalone service: an endpoint and two listeners. */
import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { ROUTE_IDS, routeOf } from "@device-risk-signals/admin-api";
import type { Logger } from "pino";
import type { Config } from "../base/config/config.ts";
import { falseCredentials } from "../access/identity/false-credentials.ts";
import { BufferedAuditLog } from "../audit/audit.ts";
import { createAdminApi } from "../http/admin/admin-api.ts";
import { endUngivenSessions, type RoleFilePorts } from "../http/admin/end-ungiven-sessions.ts";
import { portsOf } from "../operations/ports.ts";
import { WorkerCalls } from "../operations/worker-calls.ts";
import { isLoopback } from "../base/config/rules.ts";
import { createAdminServer } from "../http/admin.ts";
import { prefixOf } from "../http/admin/cookies.ts";
import { ADMIN_OPENAPI_JSON } from "../http/openapi.ts";
import { createEndpointServer } from "../http/server.ts";
import type { FollowedTls } from "../http/tls.ts";
import type { Ingest } from "../ingest/ingest.ts";
import { describeDuration } from "../base/messages/duration.ts";
import type { OnError } from "../base/ports.ts";
import { openAdminConnection } from "../operations/admin-connection.ts";
import { CloseStack } from "../runtime/close-stack.ts";
import { recordListed } from "../access/identity/admin-tokens.ts";
import { RoleFile } from "../access/identity/role-file.ts";
import { openPages } from "./open-pages.ts";
import { openSignIn } from "./open-sign-in.ts";
import { reachOf } from "./reach.ts";
import { assembleEndpoint, type Endpoint } from "../runtime/endpoint.ts";
import { createErrorLog } from "../runtime/error-log.ts";
import { withSurfaces } from "../runtime/served-surfaces.ts";
import { assembleWithoutIngestion } from "../runtime/without-ingestion.ts";
import type { System } from "../runtime/system.ts";
import type { IngestProcesses } from "./ingest-processes.ts";
import { CLOSE_WITHIN_MS, closeListener, followTls, listen, type OpenedTls, openTls, urlOf } from "./listeners.ts";

export interface Service {
  /** Absent if the process receives no events. */
  readonly url?: string;
  readonly adminUrl: string;
  /** Reads the certificate files, the role file and the key-encryption key again, if they are held in memory. */
  readonly reload: () => void;
  /** Answers accepted requests, rejects new ones, then stops. */
  readonly stop: () => Promise<void>;
}

/** @param processes receive the events instead of this process. */
export async function startService(system: System, logger: Logger, processes?: IngestProcesses): Promise<Service> {
  const { surfaces } = system;
  const { service } = system.config;
  const onError = createErrorLog(logger, system.dependencies);
  logDependencies(system, logger);
  const reloads = { logger, onError };
  await using opened = new CloseStack(onError, system.closing);
  await using serving = new CloseStack(onError, system.closing);
  await using administering = new CloseStack(onError, system.closing);
  const reports = {
    onError,
    onCheckpoint: (checkpoint: string) => logger.info({ checkpoint }, "audit checkpoint"),
  };
  const takesEvents = surfaces.includes("ingest");
  const tls = takesEvents ? await openTls(service.tls, "service.tls") : undefined;
  const endpoint: Omit<Endpoint, "ingest"> & Partial<Endpoint> =
    takesEvents && !processes
      ? await assembleEndpoint(system, reports)
      : await assembleWithoutIngestion(system, reports);
  serving.add("endpoint", () => endpoint.close());

  const { workerUrl, oidc } = service.admin;
  const reach = reachOf(system.config);
  const administers = surfaces.includes("admin");
  const works = surfaces.includes("worker");
  const roleFile =
    oidc.roleFile !== undefined && (administers || works) ? await RoleFile.open(oidc.roleFile) : undefined;
  const adminTls = await openTls(service.admin.tls, "service.admin.tls");
  const signIn = administers ? openSignIn(system, roleFile, administering) : undefined;
  const ports = administers ? portsOf(system, await openAdminConnection(system, onError, administering)) : undefined;
  const apiPorts = ports ?? (works ? portsOf(system) : undefined);
  const falseLog =
    apiPorts && new BufferedAuditLog(apiPorts.pool, system.audit, onError, falseCredentials(system.audit));
  if (falseLog) administering.add("false credentials", () => falseLog.close(system.dependencies.stopping));
  if (ports && roleFile) recordPeople(ports, roleFile, onError);
  if (administers && !works && workerUrl === undefined) {
    logger.warn("this process applies no erasure, hold or export: name a worker in DRS_WORKER_URL");
  }
  const api = apiPorts
    ? await createAdminApi({
        ports: apiPorts,
        // A worker that does not serve the admin API applies what is forwarded to it.
        ...(!administers && { routes: ROUTE_IDS.filter((id) => routeOf(id).appliedBy === "worker") }),
        ...(works && { calls: new WorkerCalls(system) }),
        workerUrl,
        roleFile,
        reach,
        onFalseCredential: (kind, peer) => {
          endpoint.metrics.falseCredential(kind);
          falseLog?.record({ outcome: "denied", cause: kind, peer });
        },
        ...(signIn && { signIn }),
        document: ADMIN_OPENAPI_JSON,
        isClearAllowed: isLoopback(service.admin.host),
        onError,
      })
    : undefined;
  const { registry } = endpoint.metrics;
  processes?.register(registry);
  const admin = createAdminServer({
    ...(api && { api }),
    ...(administers && service.admin.console === "on" && { pages: openPages(logger, prefixOf(reach)) }),
    ...(adminTls && { tls: adminTls.files }),
    hosts: [service.admin.host, ...(service.admin.hostNames ?? []), ...(signIn ? [signIn.hostName] : [])].map((name) =>
      name.toLowerCase(),
    ),
    readiness: async () => {
      const own = await endpoint.readiness();
      return withSurfaces(processes ? await processes.readiness(own) : own, surfaces);
    },
    onError,
    metrics: async () => ({
      type: registry.contentType,
      text: await (processes ? processes.metrics(registry) : registry.metrics()),
    }),
  });
  // Health checks are answered until the end.
  opened.add("admin listener", () => closeListener(admin));
  const closeAll = [serving.release(), administering.release()];
  opened.add("endpoint and admin database", () => Promise.all(closeAll.map((close) => close())));
  let withinMs = 0;
  const followed: FollowedTls[] = [];
  let url: string | undefined;
  if (endpoint.ingest) {
    const listener = createListener(system.config, endpoint.ingest, tls, onError);
    opened.add("listener", () => closeListener(listener, withinMs));
    url = await listenForEvents(listener, system.config, tls);
    followed.push(followTls(listener, tls, "certificate", reloads));
  } else if (processes) {
    opened.add("processes", () => processes.stop());
    url = await processes.start();
  }
  await listen(admin, service.admin.host, service.admin.port, "choose another in DRS_ADMIN_PORT");
  followed.push(followTls(admin, adminTls, "admin certificate", reloads));
  for (const one of followed) opened.add("certificate files", () => one.close());
  const close = opened.release();
  return {
    ...(url !== undefined && { url }),
    adminUrl: urlOf(admin, service.admin.host, adminTls),
    reload() {
      for (const one of followed) one.reload();
      processes?.reload();
      if (roleFile) reloadRoleFile(ports, roleFile, reloads);
      reloadKeyEncryption(system, reloads);
    },
    async stop() {
      const deadline = service.drainTimeoutMs;
      // Calls that still wait a second after the deadline are abandoned.
      setTimeout(() => system.dependencies.abandon(), deadline + CLOSE_WITHIN_MS).unref();
      const drained = Promise.all([endpoint.drain(), processes?.drain()]).then(() => true);
      const isDrained = await Promise.race([drained, sleep(deadline, false, { ref: false })]);
      if (isDrained) withinMs = CLOSE_WITHIN_MS;
      await close();
    },
  };
}

/** Where the result of a reload is reported. */
interface Reloads {
  readonly logger: Logger;
  readonly onError: OnError;
}

function reloadRoleFile(ports: RoleFilePorts | undefined, roleFile: RoleFile, { logger, onError }: Reloads): void {
  const follow = async (): Promise<void> => {
    logger.info("role file reloaded");
    if (!ports) return;
    recordPeople(ports, roleFile, onError);
    await endUngivenSessions(ports, roleFile.current).catch((error: unknown) => onError(error, "end sessions"));
  };
  roleFile.reload().then(follow, (error: unknown) => onError(error, "reload role file"));
}

/** Records the people of the role file, so that their tokens are refused after they were removed from it. */
function recordPeople({ pool }: Pick<RoleFilePorts, "pool">, { current }: RoleFile, onError: OnError): void {
  const people = [...new Set([...current.former, ...current.people.values()])];
  recordListed(pool, people).catch((error: unknown) => onError(error, "record people of role file"));
}

/** The server of the events, which does not listen yet. */
export function createListener(
  { service, limits }: Config,
  ingest: Ingest,
  tls: OpenedTls | undefined,
  onError: OnError,
): Server {
  return createEndpointServer({
    ingest,
    proxyHops: service.proxyHops,
    requestTimeout: limits.requestTimeoutMs,
    onError,
    ...(tls && { tls: tls.files }),
  });
}

/** @returns its URL. @throws listener-failed */
export async function listenForEvents(
  listener: Server,
  { service }: Config,
  tls: OpenedTls | undefined,
): Promise<string> {
  await listen(listener, service.host, service.port, "choose another in DRS_PORT");
  return urlOf(listener, service.host, tls);
}

/** Logs once that a dependency is down, once more for each further problem, and once that it is up again. */
export function logDependencies({ dependencies }: Pick<System, "dependencies">, logger: Logger): void {
  const outages = new Map<string, { readonly since: number; readonly logged: Set<string> }>();
  dependencies.onChange(({ name: dependency, problems, since = Date.now() }) => {
    const outage = outages.get(dependency) ?? { since, logged: new Set() };
    if (problems.length === 0) {
      outages.delete(dependency);
      logger.info({ dependency, downFor: describeDuration(Date.now() - outage.since) }, "dependency is up");
    } else if (problems.some((problem) => !outage.logged.has(problem))) {
      outages.set(dependency, outage);
      for (const problem of problems) outage.logged.add(problem);
      logger.warn({ dependency, problems }, "dependency is down");
    }
  });
}

export function reloadKeyEncryption(
  { keyEncryption }: Pick<System, "keyEncryption">,
  { logger, onError }: Reloads,
): void {
  keyEncryption.reload().then(
    (isHeld) => isHeld && logger.info("key-encryption key reloaded"),
    (error: unknown) => onError(error, "reload key-encryption key"),
  );
}
