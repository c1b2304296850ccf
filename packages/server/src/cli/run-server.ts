/** The work of `drs serve`. */
import { type Logger, pino } from "pino";
import { endAfter } from "../runtime/end-after.ts";
import { createErrorLog } from "../runtime/error-log.ts";
import { SERVED_SURFACES } from "../runtime/served-surfaces.ts";
import { findWarnings } from "../runtime/shared-clusters.ts";
import { openSystem, type System } from "../runtime/system.ts";
import type { Config } from "../base/config/config.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { describeDuration } from "../base/messages/duration.ts";
import type { IngestProcesses } from "../serve/ingest-processes.ts";
import { poolOfProcess } from "../serve/pool-of-process.ts";
import type { Forked, Supervisor } from "../serve/process-messages.ts";
import { type Context, loadConfig, print } from "./context.ts";
import { greet } from "./greeting.ts";
import { asOperatorError } from "./as-operator-error.ts";
import type { ServeOptions } from "./serve.ts";

/**
 * Time limit of the shutdown after the drain: longer than two calls to a dependency that hangs, shorter than the grace
 * period of orchestrators.
 */
const CLOSE_WITHIN_MS = 12_000;

export async function serve(context: Context, options: ServeOptions): Promise<void> {
  const { findSupervisor, forkProcess } = await import("./cluster.ts");
  const supervisor = findSupervisor(context.kill);
  if (supervisor) return serveAsProcess(context, options, supervisor);
  const config = loadConfig(context);
  const { only: surfaces, migrate: migrates } = options;
  if (surfaces && config.embedded) {
    throw new OperatorError(
      "wrong-usage",
      "Only one server can use the embedded database: set DRS_DATABASE_URL to use --only.",
    );
  }
  if (options.fresh) {
    const { startOver } = await import("./start-over.ts");
    await startOver(context, config, options.yes);
  }
  const logger = createLogger(context, config);
  const stopped = new Promise<NodeJS.Signals>((resolve) => context.onSignal(["SIGTERM", "SIGINT"], resolve));
  const system = await openSystem(config, {
    clock: context.clock,
    asServer: true,
    migrates,
    ...(surfaces && { surfaces }),
    environment: context.environment,
    onError: createErrorLog(logger),
  });
  try {
    for (const line of system.replayed) logger.warn(line);
    for (const { severity, detail } of await findWarnings(system)) logger.warn({ severity }, detail);
    const retention = describeDuration(config.audit.retentionMs);
    logger.info(`drs audit prune deletes audit entries that are older than ${retention} (DRS_AUDIT_RETENTION)`);
    // The modules that only a server needs are imported here, so that other commands start sooner.
    const { startService } = await import("../serve/service.ts");
    const count = system.surfaces.includes("ingest") ? config.service.processes : 1;
    const processes = count > 1 ? await openProcesses(count, forkProcess, system, logger) : undefined;
    const service = await startService(system, logger, processes);
    try {
      context.onSignal(["SIGHUP"], () => service.reload());
      const ready = { url: service.url, admin: service.adminUrl, ...(surfaces && { only: surfaces }) };
      logger.info({ ...ready, ...(processes && { processes: count }) }, "ready");
      for (const line of await greet(system, service, context.isTerminal)) print(context, line);
      const signal = await Promise.race([stopped, ...(processes ? [processes.failed] : [])]);
      logger.info({ signal }, "draining");
    } finally {
      endAfter(config.service.drainTimeoutMs + CLOSE_WITHIN_MS, {
        logger,
        closing: system.closing,
        kill: context.kill,
      });
      await service.stop();
    }
  } finally {
    await system.close();
  }
  logger.info("stopped");
}

const createLogger = ({ stderr }: Context, { service }: Config, base: object | null = null): Logger =>
  pino({ level: service.logLevel, base }, stderr as never);

async function openProcesses(
  count: number,
  fork: () => Forked,
  { dependencies }: Pick<System, "dependencies">,
  logger: Logger,
): Promise<IngestProcesses> {
  const { IngestProcesses } = await import("../serve/ingest-processes.ts");
  return new IngestProcesses({ count, fork, logger, canServe: () => dependencies.canStore });
}

function withPoolOfProcess(config: Config, processes: number): Config {
  return { ...config, database: { ...config.database, pool: poolOfProcess(config.database.pool, processes) } };
}

/**
 * Serves events under a supervisor. The supervisor has already migrated the database, or checked its schema, and has
 * applied the journal. It says when to stop.
 */
async function serveAsProcess(context: Context, { only }: ServeOptions, supervisor: Supervisor): Promise<void> {
  context.onSignal(["SIGTERM", "SIGINT", "SIGHUP"], () => {});
  const { number, processes } = await supervisor.place;
  try {
    const config = withPoolOfProcess(loadConfig(context), processes);
    const logger = createLogger(context, config, { process: number });
    const { clock, environment, kill } = context;
    const onError = createErrorLog(logger);
    const system = await openSystem(config, {
      clock,
      asServer: true,
      surfaces: ["ingest"],
      supervisedWith: only ?? SERVED_SURFACES,
      environment,
      onError,
    });
    try {
      const { runIngestProcess } = await import("../serve/ingest-process.ts");
      await runIngestProcess({ system, logger, supervisor, kill });
    } finally {
      await system.close();
    }
  } catch (error) {
    const { code, message } = asOperatorError(error);
    await supervisor.send({ kind: "failed", code, message });
  }
  supervisor.leave();
}
