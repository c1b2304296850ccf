import type { Platform } from "@device-risk-signals/contract/catalog/declare";
import type { ParsedEvent } from "@device-risk-signals/features/readings";
import { parseJson } from "../base/json/parse-json.ts";

/** @returns `undefined` if the exact bytes are no object with probes. Ingestion stores no such event. */
export function parseEvent(platform: string, exact: Buffer): ParsedEvent | undefined {
  let event: unknown;
  try {
    event = parseJson(exact);
  } catch {
    return undefined;
  }
  const probes = (event as { probes?: unknown } | null)?.probes;
  if (typeof probes !== "object" || probes === null) return undefined;
  return { platform: platform as Platform, probes: probes as Readonly<Record<string, unknown>> };
}
