import { parseDateTime, SCHEMA_VERSION, type TransportRequest } from "@device-risk-signals/contract";
import { type AdoptedFields, departsFromAdopted } from "@device-risk-signals/contract/catalog/adopted";
import { CAPTURED, type Captured, type Scan } from "@device-risk-signals/scanner";
import { readJson } from "../base/json/read-json.ts";
import { ScannedProbes, spelledText } from "./scanned-probes.ts";
import type { ValidRequest } from "./validate.ts";

const SLOTS = new Map(CAPTURED.map((name, index) => [name, 2 * index]));

/**
 * Converts the scan of a body to a valid request.
 *
 * @returns `undefined` if the slow path must decide whether the body is valid, or name the adopted fields that depart.
 */
export function readScan(scan: Scan, body: Buffer, adopted: AdoptedFields): ValidRequest | undefined {
  const text = (name: Captured): string => {
    const slot = SLOTS.get(name) as number;
    const start = scan.captures[slot] as number;
    return spelledText(body, start, scan.captures[slot + 1] as number);
  };
  const collectedAt = parseDateTime(text("collected_at"));
  // guard(false): the time of collection is a date-time
  if (!collectedAt) return undefined;
  let request: TransportRequest | undefined;
  const parsed = (): TransportRequest => (request ??= parse(body.toString(), scan.escapes));
  const probes = new ScannedProbes(scan, body, () => parsed().observations.probes);
  // guard(false): adopted fields follow the published schema
  if (probes.departures().some((departure) => departsFromAdopted(departure, adopted))) return undefined;
  return {
    attributes: {
      actionId: text("action_id"),
      actionType: text("action_type"),
      sessionId: text("session_id"),
      eventType: text("event_type"),
      schemaVersion: SCHEMA_VERSION,
      sdkVersion: text("sdk_version"),
      platform: text("platform"),
      appVersion: text("app_version"),
    },
    collectedAt,
    exact: body.subarray(scan.start, scan.end),
    probes,
    parsed,
    adoptedErrors: [],
  };
}

/**
 * @param escapes whether a name may contain an escape. `JSON.parse` may confuse such a name with one of an earlier
 * text.
 */
const parse = (text: string, escapes: boolean): TransportRequest =>
  (escapes ? readJson(text) : JSON.parse(text)) as TransportRequest;
