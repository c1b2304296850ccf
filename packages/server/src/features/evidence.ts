/** What the stored events of the last days say about the inputs of features, before a person decides. */
import type { ManifestInput, ReadingState } from "@device-risk-signals/features";
import { readEvent as readingsOf } from "@device-risk-signals/features/readings";
import { openIfReadable } from "../crypto/open-if-readable.ts";
import { listEvents, readEvent } from "../events/read-events.ts";
import type { Sealer } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { parseEvent } from "./parse-event.ts";

const DAYS = 7;
const DAY_MS = 86_400_000;
const PAGE = 500;
/** Number of events, the newest, that are looked at. */
const MAX_EVENTS = 20_000;
/** The share of an SDK version's events above which an adoption needs a person who accepts it. */
const MAX_REFUSED = 0.001;

export interface Evidence {
  readonly days: number;
  /** Number of events that were read. */
  readonly events: number;
  /** Whether there are more, older events in these days. */
  readonly is_limited: boolean;
  /** How often each input had each state. */
  readonly coverage: readonly Coverage[];
  /** How many events of each platform and SDK version have an input of another type than the published one. */
  readonly refused: readonly Refusals[];
}

interface OfVersion {
  readonly platform: string;
  readonly sdk_version: string;
}

interface Coverage extends OfVersion {
  /** Joined by dots, for people. */
  readonly field: string;
  readonly states: Readonly<Partial<Record<ReadingState, number>>>;
}

interface Refusals extends OfVersion {
  readonly events: number;
  /** Ingestion would refuse these if the inputs were adopted. */
  readonly refused: number;
}

/** The SDK versions of which ingestion would refuse more than a thousandth. */
export const refusingVersions = ({ refused }: Evidence): readonly Refusals[] =>
  refused.filter((version) => version.refused > version.events * MAX_REFUSED);

/** Events of a platform and SDK version, counted. */
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
}

/** Reads the newest events of the last 7 days, and counts the states of the inputs. Restricted events are left out. */
export async function gatherEvidence(
  { executor, sealer, now, purpose }: EvidencePorts,
  inputs: readonly ManifestInput[],
): Promise<Evidence> {
  const counts = new Map<string, VersionCount>();
  const filter = { from: now - DAYS * DAY_MS, ...(purpose !== undefined && { purpose }) };
  let [events, after, isLimited] = [0, undefined as string | undefined, false];
  for (;;) {
    const page = await listEvents(executor, filter, PAGE, after);
    for (const row of page) {
      const { account, purpose: of, event_id: eventId } = row;
      const stored = await readEvent(executor, {
        account,
        purpose: of,
        receivedAt: Date.parse(row.received_at),
        eventId,
      });
      const exact = stored && (await openIfReadable(sealer, stored));
      const parsed = exact && parseEvent(row.platform, exact);
      if (!parsed) continue;
      events++;
      const key = JSON.stringify([row.platform, row.sdk_version]);
      const count = counts.get(key) ?? new VersionCount();
      counts.set(key, count);
      observe(count, inputs, readingsOf(parsed));
    }
    after = page.at(-1)?.event_id;
    if (page.length < PAGE) break;
    isLimited = events >= MAX_EVENTS;
    if (isLimited) break;
  }
  return { days: DAYS, events, is_limited: isLimited, ...rowsOf(counts) };
}

function observe(count: VersionCount, inputs: readonly ManifestInput[], read: ReturnType<typeof readingsOf>): void {
  count.events++;
  let isRefused = false;
  for (const input of inputs) {
    const { state } = read(input);
    count.add(input.path.join("."), state);
    isRefused ||= state === "departed";
  }
  if (isRefused) count.refused++;
}

function rowsOf(counts: ReadonlyMap<string, VersionCount>): Pick<Evidence, "coverage" | "refused"> {
  const versions = [...counts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, count]) => {
      const [platform, sdk_version] = JSON.parse(key) as [string, string];
      return { version: { platform, sdk_version }, count };
    });
  return {
    coverage: versions.flatMap(({ version, count }) =>
      [...count.states].map(([field, states]) => ({ ...version, field, states })),
    ),
    refused: versions.map(({ version, count: { events, refused } }) => ({ ...version, events, refused })),
  };
}

/** The inputs of several features, each field once. */
export function inputsOf(
  manifests: readonly { readonly inputs: readonly ManifestInput[] }[],
): readonly ManifestInput[] {
  const byPath = new Map<string, ManifestInput>();
  for (const { inputs } of manifests) for (const input of inputs) byPath.set(JSON.stringify(input.path), input);
  return [...byPath.values()];
}
