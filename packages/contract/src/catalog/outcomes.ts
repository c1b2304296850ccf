import { OUTCOME_STATUSES } from "../limits.ts";
import { OUTCOME_ERRORS, SKIPPED_REASONS } from "../wire/outcome-words.ts";
import { CATALOG } from "./catalog.ts";

/** What the counters of outcomes need from an event. */
export interface ProbeOutcomes {
  /** The outcome code of each probe of the catalog, in the catalog's order; 0 if the event omits the probe. */
  readonly known: Uint8Array;
  /** The outcome codes of the probes that the catalog does not know. */
  readonly unknown: () => Iterable<number>;
  /** The system version, if the event has one. */
  readonly systemVersion: unknown;
}

interface Outcome {
  readonly status: string;
  readonly reason?: unknown;
  readonly error?: unknown;
}

/** The value of the lower four bits if the outcome has neither a reason nor an error that the SDK defines. */
const NO_WORD = 15;

const STATUSES: readonly string[] = OUTCOME_STATUSES;
const REASONS: readonly unknown[] = [...SKIPPED_REASONS];
const ERRORS: readonly unknown[] = [...OUTCOME_ERRORS];

/**
 * The code of an outcome. The upper four bits are the position of its status, counted from 1. The lower four bits are
 * the position of its reason or error among the words of the SDK, counted from 0, or `NO_WORD`.
 */
export function outcomeCode({ status, reason, error }: Outcome): number {
  const word = status === "skipped" ? REASONS.indexOf(reason) : status === "error" ? ERRORS.indexOf(error) : -1;
  return ((STATUSES.indexOf(status) + 1) << 4) | (word === -1 ? NO_WORD : word);
}

const PROBES = new Map(CATALOG.map(({ id }, index) => [id, index]));

/** @param probes the `probes` of an event that passed `validateTransportRequest`. */
export function outcomesOf(probes: Readonly<Record<string, unknown>>): ProbeOutcomes {
  const known = new Uint8Array(PROBES.size);
  for (const [id, index] of PROBES) {
    if (Object.hasOwn(probes, id)) known[index] = outcomeCode(probes[id] as Outcome);
  }
  const identity = probes["device_identity"] as { readonly data?: Readonly<Record<string, unknown>> } | undefined;
  return { known, unknown: () => unknownCodes(probes), systemVersion: identity?.data?.["systemVersion"] };
}

function* unknownCodes(probes: Readonly<Record<string, unknown>>): Iterable<number> {
  for (const id in probes) if (!PROBES.has(id)) yield outcomeCode(probes[id] as Outcome);
}
