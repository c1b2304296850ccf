/** Recomputes stored values from events that have not expired. */
import type { Result } from "@device-risk-signals/features";
import { type Covers, readEvent } from "@device-risk-signals/features/readings";
import { isTimeLimited } from "@device-risk-signals/features/result";
import type { TimeShare } from "@device-risk-signals/features/runner";
import { type EventKey, readEvents } from "../store/events/read-events.ts";
import { coversOf } from "../purposes/coverage.ts";
import { readPolicyVersionDocument, readPurposeIds } from "../purposes/policy-table.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type FeatureName, type LayerRow, listLayers } from "./decisions.ts";
import type { ComputePorts } from "./compute-layer.ts";
import { decodeFeatures, encodeFeatures, type StoredFeatures } from "./feature-payload.ts";
import { type FeatureRow, findRowsOfEvents } from "./feature-rows.ts";
import { type OpenedEvent, openForFeatures } from "./open-event.ts";
import { openRow } from "./open-row.ts";

/** Number of events whose exact bytes are in memory at once. */
const SLICE_SIZE = 64;

const NO_SALT = Buffer.of();

/**
 * A stored value that differs from the value that its event gives. The difference has the states of both, and no value.
 */
export interface Difference {
  readonly event_id: string;
  readonly layer: number;
  readonly feature: FeatureName;
  readonly stored: string;
  readonly computed: string;
}

export interface Verified {
  /** Number of events that were read. */
  readonly events: number;
  /** Number of rows of their values. */
  readonly rows: number;
  readonly equal: number;
  readonly different: number;
  /**
   * Rows that can't be compared: the event or the row can't be opened, or a definition took too long, now or when the
   * row was stored.
   */
  readonly undecided: number;
  readonly differences: readonly Difference[];
}

export const NOTHING_VERIFIED: Verified = {
  events: 0,
  rows: 0,
  equal: 0,
  different: 0,
  undecided: 0,
  differences: [],
};

export const sumOf = (one: Verified, other: Verified): Verified => ({
  events: one.events + other.events,
  rows: one.rows + other.rows,
  equal: one.equal + other.equal,
  different: one.different + other.different,
  undecided: one.undecided + other.undecided,
  differences: [...one.differences, ...other.differences],
});

export interface VerifyPorts extends ComputePorts {
  /** The computing time for slow events. All calls of one verification share it. */
  readonly slowTime: TimeShare;
}

/** Enough for hundreds of slow events. Without a limit, a definition that often blocks would take hours. */
const SLOW_MS = 300_000;

/** @param fullMs milliseconds. Default: five minutes. */
export const slowTimeOf = (fullMs = SLOW_MS): TimeShare => ({
  fullMs,
  patienceMs: fullMs,
  spentMs: 0,
  slow: new Set(),
});

/** Called with each row and, if its values equal the recomputed ones, with its unsealed bytes. */
export type OnRow = (row: FeatureRow, equal: Buffer | undefined) => void;

/** An opened row, and its event. */
interface Pair {
  readonly row: FeatureRow;
  readonly bytes: Buffer;
  readonly stored: StoredFeatures;
  readonly event: OpenedEvent;
}

/**
 * Compares every row of these events, without restricted ones, with the values that the archived programs compute now,
 * under the policy of the time at which the row was stored.
 */
export async function verifyValues(
  executor: Executor,
  ports: VerifyPorts,
  events: readonly Omit<EventKey, "account">[],
  onRow: OnRow = () => {},
): Promise<Verified> {
  const layers = new Map((await listLayers(executor)).map((layer) => [layer.layer, layer]));
  let total = NOTHING_VERIFIED;
  for (let at = 0; at < events.length; at += SLICE_SIZE) {
    total = sumOf(total, await verifySlice(executor, { ...ports, onRow }, layers, events.slice(at, at + SLICE_SIZE)));
  }
  return total;
}

async function verifySlice(
  executor: Executor,
  ports: VerifyPorts & { readonly onRow: OnRow },
  layers: ReadonlyMap<number, LayerRow>,
  keys: readonly Omit<EventKey, "account">[],
): Promise<Verified> {
  const events = await readEvents(executor, keys);
  const groups = new Map<string, Pair[]>();
  let [rows, undecided] = [0, 0];
  const rowsOf = await findRowsOfEvents(executor, events);
  for (const opened of await openForFeatures(ports.sealer, events)) {
    for (const row of rowsOf.get(opened.event.eventId) ?? []) {
      rows++;
      const bytes = await openRow(ports.featureSealer, row);
      if (!bytes || "reason" in opened) {
        ports.onRow(row, undefined);
        undecided++;
        continue;
      }
      const stored = decodeFeatures(bytes);
      const group = `${row.layer} ${stored.policyVersion}`;
      groups.set(group, [...(groups.get(group) ?? []), { row, bytes, stored, event: opened }]);
    }
  }
  let total: Verified = { ...NOTHING_VERIFIED, events: events.length, rows, undecided };
  for (const pairs of groups.values()) {
    const layer = layers.get(pairs[0]?.row.layer ?? 0);
    if (layer) total = sumOf(total, await verifyLayer(executor, ports, layer, pairs));
  }
  return total;
}

/** @param pairs rows of the layer, which were computed under one policy. */
async function verifyLayer(
  executor: Executor,
  ports: VerifyPorts & { readonly onRow: OnRow },
  layer: LayerRow,
  pairs: readonly Pair[],
): Promise<Verified> {
  const { onRow, runners, slowTime } = ports;
  const covers = await readCovers(executor, layer.purpose, pairs[0]?.stored.policyVersion ?? 0);
  // guard: rows that stay undecided take no time from the rows of other accounts
  const decidable = pairs.filter(({ stored }) => !stored.results.some(isTimeLimited));
  const inputs = decidable.map(({ event }) => readEvent(event.parsed, covers));
  const { runner } = await runners.find(executor, layer);
  const { events } = await runner.run(
    inputs,
    inputs.map(() => slowTime),
  );
  const resultsOf = new Map<Pair, readonly Result[]>(decidable.map((pair, index) => [pair, events[index] ?? []]));
  let [equal, different, undecided] = [0, 0, 0];
  const differences: Difference[] = [];
  for (const pair of pairs) {
    const { row, bytes, stored, event } = pair;
    // Without results, only the fingerprints of the event are compared.
    const results = resultsOf.get(pair) ?? (stored.results as readonly Result[]);
    const computed = decodeFeatures(encodeFeatures(event.exact, results, stored.policyVersion, NO_SALT));
    const found = differencesOf(row, layer, stored, computed);
    // guard: what failed because of its time is neither equal nor different
    const isUndecided = [...stored.results, ...computed.results].some(isTimeLimited);
    const isEqual = found.length === 0 && !isUndecided;
    onRow(row, isEqual ? bytes : undefined);
    if (isEqual) equal++;
    else if (found.length > 0) different++;
    else undecided++;
    differences.push(...found);
  }
  return { ...NOTHING_VERIFIED, equal, different, undecided, differences };
}

/** Reads what the purpose covered under a policy. Before the first policy, a purpose covered everything. */
export async function readCovers(executor: Executor, purpose: number, policyVersion: number): Promise<Covers> {
  const policy = await readPolicyVersionDocument(executor, policyVersion);
  const id = (await readPurposeIds(executor)).get(purpose);
  const definition = policy?.purposes.find((one) => one.id === id);
  return coversOf(definition?.probes ?? null, definition?.highest_sensitivity ?? null);
}

/** A difference between the fingerprints of the event is reported as a difference of each feature. */
function differencesOf(
  { event_id, layer: number }: FeatureRow,
  { members }: LayerRow,
  stored: StoredFeatures,
  computed: StoredFeatures,
): readonly Difference[] {
  const isOtherEvent = stored.sha256 !== computed.sha256;
  return members.flatMap((feature, index) => {
    const [one, other] = [stored.results[index], computed.results[index]];
    if (!isOtherEvent && [one, other].some((result) => result && isTimeLimited(result))) return [];
    if (!isOtherEvent && JSON.stringify(one) === JSON.stringify(other)) return [];
    const states = {
      stored: one?.state ?? "absent",
      computed: isOtherEvent ? "other-event" : (other?.state ?? "absent"),
    };
    return [{ event_id, layer: number, feature, ...states }];
  });
}
