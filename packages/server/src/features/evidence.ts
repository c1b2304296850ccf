/** Collects, before a person decides, what the stored events of the last days say about the inputs of features. */
import { type AdoptedFields, checkAdopted } from "@device-risk-signals/contract/catalog/adopted";
import type { ManifestInput, ReadingState } from "@device-risk-signals/features";
import { readEvent as readingsOf } from "@device-risk-signals/features/readings";
import { listEvents } from "../store/events/list-events.ts";
import { type ListedEvent, readEvents } from "../store/events/read-events.ts";
import type { Sealer } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { readCoverage } from "./coverage.ts";
import { adoptKnownFields } from "./known-fields.ts";
import { type OpenedEvent, openForFeatures } from "./open-event.ts";

const DAYS = 7;
const DAY_MS = 86_400_000;
const PAGE_SIZE = 500;
/** Number of events whose payloads are in memory at once. */
const SLICE_SIZE = 64;
const MAX_EVENTS = 20_000;
/** If ingestion would refuse a larger share of an SDK version's events, a person must accept this for the adoption. */
const MAX_REFUSED = 0.001;

export interface Evidence {
  readonly days: number;
  /** Number of events of the purpose that were read. */
  readonly events: number;
  /** Whether older events of these days were left out, of the purpose or of all purposes. */
  readonly is_limited: boolean;
  /** How often each input had each state, in events of the purpose. */
  readonly coverage: readonly InputCoverage[];
  /**
   * How many events of each platform and SDK version ingestion would refuse. Ingestion validates events of every
   * purpose.
   */
  readonly refused: readonly Refusals[];
}

interface OfVersion {
  readonly platform: string;
  readonly sdk_version: string;
}

interface InputCoverage extends OfVersion {
  /** The path of the field, joined by dots, for people. */
  readonly field: string;
  readonly states: Readonly<Partial<Record<ReadingState, number>>>;
}

interface Refusals extends OfVersion {
  readonly events: number;
  /** Number of events that ingestion would refuse if the inputs were adopted. */
  readonly refused: number;
}

/** The SDK versions for which ingestion would refuse more than a thousandth of the events. */
export const refusingVersions = ({ refused }: Evidence): readonly Refusals[] =>
  refused.filter((version) => version.refused > version.events * MAX_REFUSED);

/** Counts events of one platform and SDK version. */
class VersionCount {
  events = 0;
  refused = 0;
  readonly states = new Map<string, Partial<Record<ReadingState, number>>>();

  add(field: string, state: ReadingState): void {
    const states = this.states.get(field) ?? {};
    this.states.set(field, states);
    states[state] = (states[state] ?? 0) + 1;
  }
}

export interface EvidencePorts {
  readonly executor: Executor;
  readonly sealer: Sealer;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Code of the purpose; all purposes if absent. */
  readonly purpose?: number;
  /** Maximum number of events that are read, newest first: of the purpose, and of all purposes. Default: 20,000. */
  readonly maxEvents?: number;
}

/** Reads the newest events of the last 7 days, and counts the states of the inputs. Restricted events are left out. */
export async function gatherEvidence(ports: EvidencePorts, inputs: readonly ManifestInput[]): Promise<Evidence> {
  const { covers } = await readCoverage(ports.executor);
  const adopted = adoptKnownFields(inputs.map(({ path }) => path));
  const counts = (purpose?: number): Promise<Counted> =>
    countEvents(ports, purpose, ({ event, parsed }, count) => {
      const covered = readingsOf(parsed, covers.get(event.purpose));
      for (const input of inputs) count.add(input.path.join("."), covered(input).state);
      if (isRefused(parsed, adopted)) count.refused++;
    });
  const ofPurpose = await counts(ports.purpose);
  // guard(true): ingestion validates events of every purpose
  const all = ports.purpose === undefined ? ofPurpose : await counts();
  return {
    days: DAYS,
    events: ofPurpose.events,
    is_limited: ofPurpose.isLimited || all.isLimited,
    coverage: coverageOf(ofPurpose),
    refused: refusalsOf(withMoreEvents(all, ofPurpose)),
  };
}

/**
 * Takes the larger of the two counts for each version. A version may be missing among the newest events of all purposes
 * if other purposes have many newer events.
 */
function withMoreEvents(all: Counted, ofPurpose: Counted): Counted {
  const versions = new Map(all.versions);
  for (const [key, count] of ofPurpose.versions) {
    // guard(false): events of other purposes do not hide a version from the evidence
    if (count.events > (versions.get(key)?.events ?? 0)) versions.set(key, count);
  }
  return { ...all, versions };
}

interface Counted {
  readonly events: number;
  readonly isLimited: boolean;
  readonly versions: ReadonlyMap<string, VersionCount>;
}

/** @param observe counts one event for its platform and SDK version. */
async function countEvents(
  { executor, sealer, now, maxEvents = MAX_EVENTS }: EvidencePorts,
  purpose: number | undefined,
  observe: (event: OpenedEvent, count: VersionCount) => void,
): Promise<Counted> {
  const versions = new Map<string, VersionCount>();
  const filter = { from: now - DAYS * DAY_MS, ...(purpose !== undefined && { purpose }) };
  let [events, after, isLimited] = [0, undefined as string | undefined, false];
  const pageSize = Math.min(PAGE_SIZE, maxEvents);
  for (;;) {
    const page = await listEvents(executor, filter, pageSize, after);
    for (let at = 0; at < page.length; at += SLICE_SIZE) {
      const read = await readEvents(executor, page.slice(at, at + SLICE_SIZE).map(keyOf));
      for (const opened of await openForFeatures(sealer, read)) {
        if (!("parsed" in opened)) continue;
        events++;
        const key = JSON.stringify([opened.event.platform, opened.event.sdkVersion]);
        const count = versions.get(key) ?? new VersionCount();
        versions.set(key, count);
        count.events++;
        observe(opened, count);
      }
    }
    after = page.at(-1)?.event_id;
    if (page.length < pageSize) break;
    isLimited = events >= maxEvents;
    if (isLimited) break;
  }
  return { events, isLimited, versions };
}

const keyOf = ({ purpose, received_at, event_id }: ListedEvent) => {
  return { purpose, receivedAt: Date.parse(received_at), eventId: event_id };
};

/** Checks all fields of the event, as ingestion does: the purpose need not cover them. */
const isRefused = ({ probes }: OpenedEvent["parsed"], adopted: AdoptedFields): boolean =>
  checkAdopted(probes, adopted).length > 0;

const coverageOf = (counted: Counted): readonly InputCoverage[] =>
  byVersion(counted).flatMap(([version, { states }]) =>
    [...states].map(([field, ofField]) => ({ ...version, field, states: ofField })),
  );

const refusalsOf = (counted: Counted): readonly Refusals[] =>
  byVersion(counted).map(([version, { events, refused }]) => ({ ...version, events, refused }));

function byVersion({ versions }: Counted): [OfVersion, VersionCount][] {
  return [...versions]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, count]) => {
      const [platform, sdk_version] = JSON.parse(key) as [string, string];
      return [{ platform, sdk_version }, count];
    });
}

/** The inputs of several features, each field once. */
export function inputsOf(
  manifests: readonly { readonly inputs: readonly ManifestInput[] }[],
): readonly ManifestInput[] {
  const byPath = new Map<string, ManifestInput>();
  for (const { inputs } of manifests) for (const input of inputs) byPath.set(JSON.stringify(input.path), input);
  return [...byPath.values()];
}
