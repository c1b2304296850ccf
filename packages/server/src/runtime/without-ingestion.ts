import { knownReadiness, readiness } from "../base/dependencies/readiness.ts";
import { forgetErasedKeys, type ServedParts, startMonitors, startWork, type WorkReports } from "./background.ts";
import { CloseStack } from "./close-stack.ts";
import type { Endpoint } from "./endpoint.ts";
import { createMetrics } from "./metrics.ts";

/** Assembles the parts of a process that receives no events: a worker, or a process of the admin API. */
export async function assembleWithoutIngestion(
  system: ServedParts,
  reports: WorkReports,
): Promise<Omit<Endpoint, "ingest">> {
  const { onError } = reports;
  await using opened = new CloseStack(onError, system.closing);
  const metrics = createMetrics(() => 0, system.dependencies);
  const supervision = startMonitors(system, onError, opened);
  startWork(system, supervision, metrics, reports, opened);
  forgetErasedKeys(system, onError, opened);
  let isDraining = false;
  return {
    metrics,
    readiness: () => readiness(system, isDraining),
    knownReadiness: () => knownReadiness(system, isDraining),
    drain: async () => void (isDraining = true),
    close: opened.release(),
  };
}
