/** `drs feature work`: a process that computes features. */
import { pino } from "pino";
import { createErrorLog } from "../app/error-log.ts";
import { openSystem } from "../app/system.ts";
import { ExtractionWorker } from "../features/extraction-worker.ts";
import { type Context, loadConfig } from "./context.ts";

/** Data keys of erased accounts, and secrets of dropped partitions, are out of memory after this long. */
const FORGET_EVERY_MS = 1_000;

export async function workOnFeatures(context: Context): Promise<void> {
  const config = loadConfig(context);
  const logger = pino({ level: config.service.logLevel, base: null }, context.stderr as never);
  const stopped = new Promise<NodeJS.Signals>((resolve) => context.onSignal(["SIGTERM", "SIGINT"], resolve));
  const onError = createErrorLog(logger);
  const { clock, environment } = context;
  const system = await openSystem(config, { clock, asServer: false, migrates: false, environment, onError });
  const forget = setInterval(() => {
    system.sealer.evictKeys(clock.now());
    system.featureSealer.forgetKeys();
    void system.accountKeys.refresh().catch((error: unknown) => onError(error, "refresh account keys"));
  }, FORGET_EVERY_MS);
  const worker = new ExtractionWorker({ ...system, onError });
  try {
    logger.info("computing features");
    logger.info({ signal: await stopped }, "stopping");
  } finally {
    clearInterval(forget);
    await worker.close();
    await system.close();
  }
}
