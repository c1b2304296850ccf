/** `drs feature work`: a process that computes and attests features. */
import { pino } from "pino";
import { attestationSigner } from "../runtime/attestation-signer.ts";
import { forgetErasedKeys } from "../runtime/background.ts";
import { CloseStack } from "../runtime/close-stack.ts";
import { createErrorLog } from "../runtime/error-log.ts";
import { openSystem } from "../runtime/system.ts";
import { AttestationWorker } from "../features/attest.ts";
import { ExtractionWorker } from "../features/extraction-worker.ts";
import { type Context, loadConfig } from "./context.ts";

export async function workOnFeatures(context: Context): Promise<void> {
  const config = loadConfig(context);
  const logger = pino({ level: config.service.logLevel, base: null }, context.stderr as never);
  const stopped = new Promise<NodeJS.Signals>((resolve) => context.onSignal(["SIGTERM", "SIGINT"], resolve));
  const onError = createErrorLog(logger);
  const { clock, environment } = context;
  const system = await openSystem(config, { clock, asServer: false, migrates: false, environment, onError });
  await using opened = new CloseStack(onError, system.closing);
  opened.add("system", () => system.close());
  forgetErasedKeys(system, onError, opened);
  const worker = new ExtractionWorker({ ...system, onError });
  opened.add("extraction of features", () => worker.close());
  const attestation = new AttestationWorker({
    ...system,
    sign: attestationSigner(system),
    onError,
  });
  opened.add("attestation of features", () => attestation.close());
  logger.info("computing features");
  logger.info({ signal: await stopped }, "stopping");
}
