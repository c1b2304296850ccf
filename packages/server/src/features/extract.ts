/**
 * Computes the features of events in one transaction: reads and opens the events, runs the definitions, and seals and
 * stores the values.
 */
import type { ManifestInput } from "@device-risk-signals/features";
import type { FeatureSealer } from "../crypto/feature-sealer.ts";
import { readEvents } from "../events/read-events.ts";
import type { StoredEvent } from "../ports.ts";
import type { Executor, Transaction } from "../postgres/executor.ts";
import {
  type AssignedEvent,
  type Collected,
  type Computation,
  type ComputePorts,
  computeLayer,
} from "./compute-layer.ts";
import { type FeatureName, type LayerRow, listLayers } from "./decisions.ts";
import { type Coverage, readCoverage } from "./coverage.ts";
import type { DueEvent } from "./extraction-due.ts";
import { deleteFormer, type ExtractionFailure, type FailureReason, findFailures, recordFailures } from "./failures.ts";
import { decodeFeatures, isSameResult } from "./feature-payload.ts";
import { allFeatureRows, insertFeatureRows, type NewFeatureRow } from "./feature-rows.ts";
import { isLayerError, type LayerRunners } from "./layer-runners.ts";
import { assignLayers, isOf, type KnownOfEvent, readKnown, shareFeatures } from "./layers-of-event.ts";
import { type OpenedEvent, openForFeatures } from "./open-event.ts";
import { openRow } from "./open-row.ts";
import type { ParserOf } from "./read-inputs.ts";
import { addToTally } from "./tally.ts";

/** The name of the operation in reports of errors. */
export const EXTRACTION = "extract features";

/** Number of events in a slice. The exact bytes of two slices are in memory at once. */
const SLICE_SIZE = 250;

export interface ExtractPorts extends ComputePorts {
  readonly parserOf: ParserOf;
}

export interface Extracted {
  /** Number of rows that were stored. */
  readonly rows: number;
  readonly failures: number;
  /**
   * Number of rows that existed and differ from the values that were computed now, because a definition is not
   * deterministic.
   */
  readonly differences: number;
  /** Features that were too slow for a decided event, once for each such event. */
  readonly slow: readonly FeatureName[];
  /** The number of leading events that are decided. The others come after one that was too slow. */
  readonly decided: number;
  /** Ids of events whose values can't be computed or sealed now. They stay due. */
  readonly waiting: ReadonlySet<string>;
  /** Errors that concern only some layers, once for each layer. */
  readonly errors: readonly unknown[];
}

export const NOTHING: Extracted = {
  rows: 0,
  failures: 0,
  differences: 0,
  slow: [],
  decided: 0,
  waiting: new Set(),
  errors: [],
};

export interface ExtractOptions {
  /** The numbers of the layers that are computed. Default: all. */
  readonly layers?: readonly number[];
  /** The backfill that computes the events, which are not due. */
  readonly runId?: string;
  /**
   * Whether an earlier attempt may have stored rows or failures of the events, because they waited for another layer.
   * These layers are not computed again.
   */
  readonly isRetry?: boolean;
}

/**
 * Stores a row for each event and each layer of its purpose that had not ended when the event was received. Events that
 * are erased, expired or restricted get none.
 * @param options.layers if several layers of an event share features, the caller of a backfill has excluded other
 *   backfills of its purpose.
 */
export async function extract(
  transaction: Transaction,
  ports: ExtractPorts,
  events: readonly DueEvent[],
  options: ExtractOptions = {},
): Promise<Extracted> {
  const allLayers = await listLayers(transaction);
  const layers = allLayers.filter(({ layer }) => options.layers?.includes(layer) ?? true);
  const assign = assignerOf(transaction, allLayers, options);
  // Processes of active layers are kept, because due events and a backfill use them in turn.
  await ports.runners.keepOnly(
    allLayers.filter((layer) => layer.ended_at === null || events.some((event) => isOf(layer, event))),
  );
  // A commit batch has events of purposes without features, too: their payloads are not read.
  const eventsWithLayer = events.filter((event) => layers.some((layer) => isOf(layer, event)));
  if (eventsWithLayer.length === 0) return { ...NOTHING, decided: events.length };
  // The search for features that block a process takes long, and sends no statement. It has a separate time limit.
  // guard(drop): PostgreSQL does not end the transaction during the search
  // fails: packages/server/src/features/slow-features.test.ts › longer than a transaction may be idle
  await transaction.query("set local idle_in_transaction_session_timeout = 0");
  const collected: Collected = {
    computed: [],
    failures: [],
    slow: [],
    undecided: new Set(),
    waiting: new Set(),
    errors: new Map(),
  };
  const { inputs, startErrors } = await openLayers(transaction, ports.runners, layers, eventsWithLayer);
  const parse = ports.parserOf(inputs);
  const computation: Computation = {
    ...ports,
    executor: transaction,
    coverage: await readCoverage(transaction),
    collected,
    startErrors,
    isBackfill: options.runId !== undefined,
  };
  type Slice = ReturnType<typeof openForFeatures>;
  const openSlice = async (at: number): Slice =>
    openForFeatures(ports.sealer, await readEvents(transaction, eventsWithLayer.slice(at, at + SLICE_SIZE)), parse);
  const openAhead = (at: number): Slice => {
    const slice = openSlice(at);
    // The rejection is handled where the slice is awaited. Without a handler here, an earlier rejection would end the
    // process.
    // guard(drop): a slice that can't be read fails its extraction alone
    // fails: packages/server/src/features/extraction.test.ts › where a later slice
    slice.catch(() => {});
    return slice;
  };
  const places = new Map(events.map(({ eventId }, place) => [eventId, place]));
  const placeOf = ({ event }: OpenedEvent): number => places.get(event.eventId) ?? 0;
  const countDecided = (): number => {
    const found = events.findIndex(({ eventId }) => collected.undecided.has(eventId));
    return found === -1 ? events.length : found;
  };
  let next = openAhead(0);
  try {
    for (let at = 0; at < eventsWithLayer.length && collected.undecided.size === 0; at += SLICE_SIZE) {
      const slice = await next;
      // The next slice is read and opened while the programs compute this one.
      next = openAhead(at + SLICE_SIZE);
      const opened: OpenedEvent[] = [];
      for (const one of slice) {
        if ("parsed" in one) opened.push(one);
        else collected.failures.push(...failuresOf(one.event, layers, one.reason));
      }
      // In the order of the events, so that a backfill continues after the events that are decided.
      const assigned = await assign(opened.toSorted((a, b) => placeOf(a) - placeOf(b)));
      for (const layer of layers) {
        const decided = countDecided();
        const own = assigned.get(layer.layer) ?? [];
        // guard(false): no event is computed for a layer while it waits behind a slow event of another layer
        // fails: packages/server/src/features/slow-features.test.ts › leaves what comes behind
        const ahead = decided < events.length ? own.filter((one) => placeOf(one) < decided) : own;
        if (ahead.length > 0) await computeLayer(computation, layer, ahead);
      }
    }
  } finally {
    // The next slice must not run statements after the end of the transaction.
    await next.catch(() => {});
  }
  const decided = countDecided();
  // guard(false): a batch without progress is postponed like one that fails
  // fails: packages/server/src/features/slow-features.test.ts › decide no event
  if (decided === 0) throw new Error("no event was decided");
  const kept = decided === events.length ? collected : keepOf(collected, events.slice(0, decided));
  const stored = await store(transaction, ports, kept, computation.coverage, options.runId);
  return { ...stored, decided, waiting: kept.waiting, errors: [...kept.errors.values()] };
}

/** Keeps what was collected for these events. */
function keepOf(collected: Collected, events: readonly DueEvent[]): Collected {
  const ids = new Set(events.map(({ eventId }) => eventId));
  const computed = collected.computed.filter(({ row }) => ids.has(row.eventId));
  const failures = collected.failures.filter(({ event }) => ids.has(event.eventId));
  const slow = collected.slow.filter(({ eventId }) => ids.has(eventId));
  return { ...collected, computed, failures, slow };
}

/**
 * Starts the processes of the layers that have one of the events.
 * @returns what their features read, and the error of each layer that did not start. Such a layer is not started later
 * in this extraction, because the events are read without its inputs.
 */
async function openLayers(
  executor: Executor,
  runners: LayerRunners,
  layers: readonly LayerRow[],
  events: readonly DueEvent[],
): Promise<{ readonly inputs: readonly ManifestInput[]; readonly startErrors: ReadonlyMap<number, unknown> }> {
  const inputs: ManifestInput[] = [];
  const startErrors = new Map<number, unknown>();
  for (const layer of layers) {
    if (!events.some((event) => isOf(layer, event))) continue;
    try {
      inputs.push(...(await runners.find(executor, layer)).inputs);
    } catch (error) {
      if (!isLayerError(error)) throw error;
      startErrors.set(layer.layer, error);
    }
  }
  return { inputs, startErrors };
}

/** Returns a function that chooses the events of each layer. Its result has them by the number of the layer. */
function assignerOf(
  executor: Transaction,
  allLayers: readonly LayerRow[],
  { layers: wanted, runId, isRetry = false }: ExtractOptions,
): (opened: readonly OpenedEvent[]) => Promise<ReadonlyMap<number, readonly AssignedEvent[]>> {
  return async (opened) => {
    const layersOf = (event: StoredEvent): readonly LayerRow[] => allLayers.filter((layer) => isOf(layer, event));
    const asked = opened.map(({ event }) => event).filter((event) => isRetry || shareFeatures(layersOf(event)));
    const found = asked.length > 0 ? await readKnown(executor, asked, runId === undefined) : undefined;
    const failed = isRetry
      ? await findFailures(
          executor,
          asked.map(({ eventId }) => eventId),
        )
      : undefined;
    const byLayer = new Map<number, AssignedEvent[]>();
    for (const one of opened) {
      const { eventId } = one.event;
      const known = found?.get(eventId) ?? NOTHING_KNOWN;
      for (const { layer, own } of assignLayers(layersOf(one.event), known, wanted)) {
        const isDecided = known.stored.has(layer.layer) || failed?.get(eventId)?.has(layer.layer);
        // guard(false): what an earlier attempt has decided is not computed again
        // fails: packages/server/src/features/extraction.test.ts › computes no other layer again
        if (isRetry && isDecided) continue;
        const events = byLayer.get(layer.layer) ?? [];
        byLayer.set(layer.layer, events);
        events.push({ ...one, counted: own });
      }
    }
    return byLayer;
  };
}

const NOTHING_KNOWN: KnownOfEvent = { stored: new Set(), isDue: false };

/** Failures of an event in each of its layers. */
export const failuresOf = (
  event: DueEvent,
  layers: readonly LayerRow[],
  reason: FailureReason,
): readonly ExtractionFailure[] =>
  layers.filter((layer) => isOf(layer, event)).map(({ layer }) => ({ event, layer, reason }));

async function store(
  transaction: Transaction,
  { featureSealer }: ExtractPorts,
  { computed, failures, slow }: Collected,
  { policyVersion }: Coverage,
  runId: string | undefined,
): Promise<Omit<Extracted, "decided" | "waiting" | "errors">> {
  const keyOf = ({ eventId, layer }: { eventId: string; layer: number }): string => `${eventId} ${layer}`;
  const inserted = await insertFeatureRows(
    transaction,
    computed.map(({ row }) => row),
    runId,
    policyVersion,
  );
  const stored = new Set(inserted.map(keyOf));
  let differences = 0;
  for (const { row, values } of computed) {
    if (stored.has(keyOf(row))) continue;
    // guard(false): a second computation is compared
    // fails: packages/server/src/features/extraction.test.ts › another result
    if (!(await isSame(transaction, featureSealer, row, values))) differences++;
  }
  await addToTally(
    transaction,
    computed.filter(({ row }) => stored.has(keyOf(row))).map(({ counted }) => counted),
  );
  const failed = failures.map(({ event: { eventId }, layer }) => ({ eventId, layer }));
  // guard(drop): a failure is over when a backfill has stored the values
  // fails: packages/server/src/features/backfill.test.ts › gives up an event that always fails, and no other
  if (runId !== undefined) await deleteFormer(transaction, [...inserted, ...failed]);
  await recordFailures(transaction, failures);
  return { rows: inserted.length, failures: failures.length, differences, slow: slow.map(({ feature }) => feature) };
}

/**
 * Whether a stored row has these values. The result is also true if the row can't be compared: it was erased meanwhile,
 * it can't be opened, or it was computed under another policy.
 */
async function isSame(executor: Executor, sealer: FeatureSealer, row: NewFeatureRow, values: Buffer): Promise<boolean> {
  const subject = { eventId: row.eventId, receivedAt: new Date(row.receivedAt) };
  const rows = await Array.fromAsync(allFeatureRows(executor, subject));
  const existing = rows.find(({ layer }) => layer === row.layer);
  if (!existing) return true;
  const bytes = await openRow(sealer, existing);
  if (!bytes) return true;
  const [stored, now] = [decodeFeatures(bytes), decodeFeatures(values)];
  return stored.policyVersion !== now.policyVersion || isSameResult(stored, now);
}
