import { Command, InvalidArgumentError } from "commander";
import { pino } from "pino";
import { endAfter } from "../app/end-after.ts";
import { createErrorLog } from "../app/error-log.ts";
import { SERVED_SURFACES, type ServedSurface } from "../app/served-surfaces.ts";
import { openSystem } from "../app/system.ts";
import { OperatorError } from "../errors/operator-error.ts";
import { type Context, loadConfig, print } from "./context.ts";
import { greet } from "./greeting.ts";
import { example } from "./options.ts";

/**
 * Time limit of the shutdown after the drain: longer than two calls to a dependency that hangs, shorter than the grace
 * period of orchestrators.
 */
const CLOSE_WITHIN_MS = 12_000;

export function serveCommand(context: Context): Command {
  return new Command("serve")
    .description("Run the endpoint until SIGTERM or SIGINT, then drain.")
    .option("--only <surfaces...>", "serve only these: ingest, admin, worker", surfaceList)
    .option("--no-migrate", "leave an outdated schema as it is, and end with exit code 4")
    .addHelpText("after", example("drs serve", "DRS_PORT=9000 drs serve", "drs serve --only ingest"))
    .action((options: ServeOptions) => serve(context, options));
}

interface ServeOptions {
  readonly migrate: boolean;
  readonly only?: readonly ServedSurface[];
}

/** Reads surfaces, separated by commas, in addition to those of earlier values of the option. */
function surfaceList(text: string, earlier: readonly ServedSurface[] = []): readonly ServedSurface[] {
  const named = text.split(",").map((name) => {
    const found = SERVED_SURFACES.find((surface) => surface === name);
    if (found) return found;
    throw new InvalidArgumentError(`It must be of ${SERVED_SURFACES.join(", ")}.`);
  });
  const all = new Set([...earlier, ...named]);
  return SERVED_SURFACES.filter((surface) => all.has(surface));
}

async function serve(context: Context, { migrate: migrates, only: surfaces }: ServeOptions): Promise<void> {
  const config = loadConfig(context);
  if (surfaces && config.embedded) {
    throw new OperatorError("wrong-usage", "One server uses the embedded database: --only needs DRS_DATABASE_URL.");
  }
  const logger = pino({ level: config.service.logLevel, base: null }, context.stderr as never);
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
    for (const { severity, detail } of system.warnings) logger.warn({ severity }, detail);
    // The modules that only a server needs are imported here, so that other commands start sooner.
    const { startService } = await import("../service/service.ts");
    const service = await startService(system, logger);
    try {
      context.onSignal(["SIGHUP"], () => service.reload());
      logger.info({ url: service.url, admin: service.adminUrl, ...(surfaces && { only: surfaces }) }, "ready");
      for (const line of await greet(system, service, context.isTerminal)) print(context, line);
      logger.info({ signal: await stopped }, "draining");
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
