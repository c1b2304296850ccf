/**
 * Computes the features of events in one transaction: reads and opens the events, runs the definitions, and seals and
 * stores the values.
 */
import type { ManifestInput, Result } from "@device-risk-signals/features";
import { isTimeLimited } from "@device-risk-signals/features/result";
import type { FeatureSealer } from "../store/crypto/feature-sealer.ts";
import { readEvents } from "../store/events/read-events.ts";
import type { StoredEvent } from "../base/ports.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import {
  type AssignedEvent,
  type Collected,
  type Computation,
  type Computed,
  type ComputePorts,
  computeLayer,
} from "./compute-layer.ts";
import { type FeatureName, type LayerRow, listLayers } from "./decisions.ts";
import { type Coverage, readCoverage } from "./coverage.ts";
import type { DueEvent } from "./extraction-due.ts";
import { deleteFormer, type ExtractionFailure, type FailureReason, findFailures, recordFailures } from "./failures.ts";
import {
  decodeFeatures,
  isMoreComplete,
  isSameResult,
  type StoredFeatures,
  type StoredResult,
} from "./feature-payload.ts";
import { allFeatureRows, type FeatureKey, insertFeatureRows, type NewFeatureRow } from "./feature-rows.ts";
import { isLayerError, type LayerRunners } from "./layer-runners.ts";
import { assignLayers, isOf, type KnownOfEvent, readKnown, shareFeatures } from "./layers-of-event.ts";
import { type OpenedEvent, openForFeatures } from "./open-event.ts";
import { openRow } from "./open-row.ts";
import type { ParserOf } from "./read-inputs.ts";
import { addToTally, type CountedEvent } from "./tally.ts";

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
  /** Features that were too slow for an event or for its account. */
  readonly slow: ReadonlySet<FeatureName>;
  /** Ids of events whose values can't be computed or sealed now. They stay due. */
  readonly waiting: ReadonlySet<string>;
  /** Errors that concern only some layers, once for each layer. */
  readonly errors: readonly unknown[];
}

export const NOTHING: Extracted = {
  rows: 0,
  failures: 0,
  differences: 0,
  slow: new Set(),
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
  if (eventsWithLayer.length === 0) return NOTHING;
  // Slow events of many accounts take long together, and send no statement.
  // guard(drop): PostgreSQL does not end the transaction during the search
  await transaction.query("set local idle_in_transaction_session_timeout = 0");
  const collected: Collected = {
    computed: [],
    failures: [],
    slow: new Set(),
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
  const openSlice = async (slice: readonly DueEvent[]): Slice =>
    openForFeatures(ports.sealer, await readEvents(transaction, slice), parse);
  for await (const slice of openAhead(eventsWithLayer, openSlice)) {
    const opened: OpenedEvent[] = [];
    for (const one of slice) {
      if ("parsed" in one) opened.push(one);
      else collected.failures.push(...failuresOf(one.event, layers, one.reason));
    }
    const assigned = await assign(opened);
    for (const layer of layers) {
      const own = assigned.get(layer.layer) ?? [];
      if (own.length > 0) await computeLayer(computation, layer, own);
    }
  }
  const stored = await store(transaction, ports, collected, computation.coverage, options.runId);
  const { slow, waiting, errors } = collected;
  return { ...stored, slow, waiting, errors: [...errors.values()] };
}

type Slice = ReturnType<typeof openForFeatures>;

/** Opens events in slices. The next slice is read and opened while the programs compute this one. */
async function* openAhead(
  events: readonly DueEvent[],
  open: (slice: readonly DueEvent[]) => Slice,
): AsyncGenerator<Awaited<Slice>> {
  const openAt = (at: number): Slice => {
    const slice = open(events.slice(at, at + SLICE_SIZE));
    // The rejection is handled where the slice is awaited. Without a handler here, an earlier rejection would end the
    // process.
    // guard(drop): a slice that can't be read fails its extraction alone
    slice.catch(() => {});
    return slice;
  };
  let next = openAt(0);
  try {
    for (let at = 0; at < events.length; at += SLICE_SIZE) {
      const slice = await next;
      next = openAt(at + SLICE_SIZE);
      yield slice;
    }
  } finally {
    // The next slice must not run statements after the end of the transaction.
    await next.catch(() => {});
  }
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
  { computed, failures }: Collected,
  { policyVersion }: Coverage,
  runId: string | undefined,
): Promise<Pick<Extracted, "rows" | "failures" | "differences">> {
  const replaced =
    runId === undefined ? new Map<string, ReplacedRow>() : await findReplaced(transaction, featureSealer, computed);
  const inserted = await insertFeatureRows(
    transaction,
    computed.map(({ row }) => row),
    { runId, policyVersion, replaced: [...replaced.values()].map(({ key }) => key) },
  );
  const stored = new Set(inserted.map(keyOf));
  let differences = 0;
  for (const { row, values } of computed) {
    if (stored.has(keyOf(row))) continue;
    // guard(false): a second computation is compared
    if (!(await isSame(transaction, featureSealer, row, values))) differences++;
  }
  const added = computed.filter(({ row }) => stored.has(keyOf(row)));
  const counted = added.flatMap(({ row, counted: now }): readonly CountedEvent[] => {
    const before = replaced.get(keyOf(row))?.results;
    return before ? changesOf(before, now) : [now];
  });
  await addToTally(transaction, counted);
  const incomplete = added
    .filter(({ counted: { results } }) => results.some(isTimeLimited))
    .map(({ row }): ExtractionFailure => ({ event: row, layer: row.layer, reason: "time-limit" }));
  const failed = failures.map(({ event: { eventId }, layer }) => ({ eventId, layer }));
  // guard(drop): a failure is over when a backfill has stored the values
  if (runId !== undefined) await deleteFormer(transaction, [...inserted, ...failed]);
  await recordFailures(transaction, [...failures, ...incomplete]);
  return { rows: inserted.length, failures: failures.length, differences };
}

const keyOf = ({ eventId, layer }: FeatureKey): string => `${eventId} ${layer}`;

interface ReplacedRow {
  readonly key: FeatureKey;
  readonly results: readonly StoredResult[];
}

/** Finds the stored rows that lack features because of their time, of which some were computed now. */
async function findReplaced(
  executor: Executor,
  sealer: FeatureSealer,
  computed: readonly Computed[],
): Promise<ReadonlyMap<string, ReplacedRow>> {
  const failures = await findFailures(
    executor,
    computed.map(({ row }) => row.eventId),
  );
  const replaced = new Map<string, ReplacedRow>();
  for (const { row, values } of computed) {
    const { eventId, layer } = row;
    if (failures.get(eventId)?.get(layer) !== "time-limit") continue;
    const stored = await readStored(executor, sealer, row);
    if (!stored || !isMoreComplete(decodeFeatures(values), stored)) continue;
    replaced.set(keyOf(row), { key: { eventId, layer }, results: stored.results });
  }
  return replaced;
}

/** Counts a feature in its new state, and no longer as failed, if only its time was the reason. */
function changesOf(before: readonly StoredResult[], now: CountedEvent): readonly CountedEvent[] {
  const changed = now.features.filter((_, index) => isChanged(before[index], now.results[index]));
  const counted = new Set(changed.map(({ name }) => name));
  return [
    { ...now, counted, times: -1, results: before as readonly Result[] },
    { ...now, counted },
  ];
}

const isChanged = (before: StoredResult | undefined, now: Result | undefined): boolean =>
  before !== undefined && now !== undefined && isTimeLimited(before) && !isTimeLimited(now);

/**
 * Whether a stored row has these values. The result is also true if the row can't be compared: it was erased meanwhile,
 * it can't be opened, or it was computed under another policy.
 */
async function isSame(executor: Executor, sealer: FeatureSealer, row: NewFeatureRow, values: Buffer): Promise<boolean> {
  const [stored, now] = [await readStored(executor, sealer, row), decodeFeatures(values)];
  return !stored || stored.policyVersion !== now.policyVersion || isSameResult(stored, now);
}

/** @returns `undefined` if there is no such row, or if it can't be opened */
async function readStored(
  executor: Executor,
  sealer: FeatureSealer,
  { eventId, receivedAt, layer }: NewFeatureRow,
): Promise<StoredFeatures | undefined> {
  const rows = await Array.fromAsync(allFeatureRows(executor, { eventId, receivedAt: new Date(receivedAt) }));
  const existing = rows.find((one) => one.layer === layer);
  const bytes = existing && (await openRow(sealer, existing));
  return bytes && decodeFeatures(bytes);
}
