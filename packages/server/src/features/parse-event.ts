import type { Platform } from "@device-risk-signals/contract/catalog/declare";
import type { ParsedEvent } from "@device-risk-signals/features/readings";
import { readJson, TextError } from "../json/read-json.ts";
import { scanText } from "../json/scan-text.ts";

/** @returns `undefined` if the exact bytes are no object with probes. Ingestion stores no such event. */
export function parseEvent(platform: string, exact: Buffer): ParsedEvent | undefined {
  let event: unknown;
  try {
    event = parse(exact);
  } catch {
    return undefined;
  }
  const probes = (event as { probes?: unknown } | null)?.probes;
  if (event instanceof TextError || typeof probes !== "object" || probes === null) return undefined;
  return { platform: platform as Platform, probes: probes as Readonly<Record<string, unknown>> };
}

function parse(exact: Buffer): unknown {
  const text = exact.toString("utf8");
  // guard(false): a name with an escape, which `JSON.parse` may read as that of an earlier event, is read correctly
  // fails: packages/server/src/features/parse-event.test.ts › does not take a name
  return scanText(exact).escapes ? readJson(text) : JSON.parse(text);
}
