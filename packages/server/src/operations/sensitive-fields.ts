/** The observations that a caller may read. */
import type { Scope } from "@device-risk-signals/admin-api";
import { pointerOf } from "@device-risk-signals/contract";
import { fieldOf } from "@device-risk-signals/contract/observations";

interface RawEvent extends Record<string, unknown> {
  readonly probes?: Readonly<Record<string, { readonly data?: Record<string, unknown> }>>;
}

/** Members of a raw event that the contract describes. */
const ENVELOPE_MEMBERS = new Set(["session_id", "client_id", "event_type", "schema_version", "collected_at", "probes"]);

/** Whether a field is of high sensitivity, or unknown to the catalog. @param path names from the probe down. */
export function isSensitive([probe = "", name = ""]: readonly string[]): boolean {
  const sensitivity = fieldOf(probe, name)?.sensitivity;
  return sensitivity !== "low" && sensitivity !== "medium";
}

/**
 * Removes fields of high sensitivity. Also removes fields that the catalog does not know, and members of the event that
 * the contract does not describe, because their sensitivity is unknown.
 * @returns the JSON Pointers of what was removed.
 */
function withholdSensitive(observations: RawEvent): string[] {
  const withheld: string[] = [];
  for (const name of Object.keys(observations).filter((one) => !ENVELOPE_MEMBERS.has(one))) {
    delete observations[name];
    withheld.push(pointerOf([name]));
  }
  const { probes = {} } = observations;
  for (const [probe, { data }] of Object.entries(probes)) {
    for (const name of Object.keys(data ?? {})) {
      if (!isSensitive([probe, name])) continue;
      delete data?.[name];
      withheld.push(pointerOf(["probes", probe, "data", name]));
    }
  }
  return withheld;
}

export interface Readable {
  readonly observations: Readonly<Record<string, unknown>>;
  /** JSON Pointers of what was removed. */
  readonly withheld: readonly string[];
}

/** @param exact the bytes of a raw event. */
export function readableOf(exact: Uint8Array, scope: Scope): Readable {
  const observations = JSON.parse(Buffer.from(exact).toString("utf8")) as RawEvent;
  return { observations, withheld: scope === "full" ? [] : withholdSensitive(observations) };
}
