/** Computes the features of a layer for opened events, and seals their values. */
import { randomBytes } from "node:crypto";
import type { Result } from "@device-risk-signals/features";
import { readEvent } from "@device-risk-signals/features/readings";
import type { BatchResults } from "@device-risk-signals/features/runner";
import type { FeatureSealer } from "../crypto/feature-sealer.ts";
import { hasCode, OperatorError } from "../errors/operator-error.ts";
import { isPartitionMissing, type Sealer } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import type { Coverage } from "./coverage.ts";
import type { FeatureName, LayerRow } from "./decisions.ts";
import type { ExtractionFailure, FailureReason } from "./failures.ts";
import { encodeFeatures, SALT_BYTES } from "./feature-payload.ts";
import type { NewFeatureRow } from "./feature-rows.ts";
import { isLayerError, type LayerRunners, type OpenLayer } from "./layer-runners.ts";
import type { OpenedEvent } from "./open-event.ts";
import type { CountedEvent } from "./tally.ts";

export interface ComputePorts {
  readonly sealer: Sealer;
  readonly featureSealer: FeatureSealer;
  readonly runners: LayerRunners;
}

/** A row, and its values before they are sealed. */
export interface Computed {
  readonly row: NewFeatureRow;
  readonly values: Buffer;
  readonly counted: CountedEvent;
}

/** An event of a layer. Only the features in `counted` count the event in their tallies. */
export interface AssignedEvent extends OpenedEvent {
  readonly counted: ReadonlySet<FeatureName>;
}

/** What the layers of some events give. */
export interface Collected {
  readonly computed: Computed[];
  readonly failures: ExtractionFailure[];
  /** Each feature that was too slow, with the event for which it was. */
  readonly slow: { readonly eventId: string; readonly feature: FeatureName }[];
  /** Ids of the events that come after one that was too slow. */
  readonly undecided: Set<string>;
  /** Ids of the due events whose values can't be computed or sealed now. */
  readonly waiting: Set<string>;
  /** The last error of each layer that has one, by its number. */
  readonly errors: Map<number, unknown>;
}

/** What the computations of the layers of an extraction share. */
export interface Computation extends ComputePorts {
  readonly executor: Executor;
  readonly coverage: Coverage;
  readonly collected: Collected;
  /** The error of each layer that did not start. */
  readonly startErrors: ReadonlyMap<number, unknown>;
  readonly isBackfill: boolean;
}

/** Computes events of a layer, up to the first one that is too slow, so that the transaction ends soon. */
export async function computeLayer(
  computation: Computation,
  layer: LayerRow,
  opened: readonly AssignedEvent[],
): Promise<void> {
  const { featureSealer, runners, coverage, collected, isBackfill } = computation;
  const { policyVersion } = coverage;
  const { computed, failures, slow, undecided } = collected;
  // guard(false): slow events do not take all the time of a worker
  // fails: packages/server/src/features/slow-features.test.ts › pauses a layer
  if (!isBackfill && runners.isPaused(layer.layer)) {
    failures.push(...failuresIn(layer, opened, "paused"));
    return;
  }
  const ran = await run(computation, layer, opened).catch((error: unknown) => {
    // guard(true): a layer that can't be computed keeps no other layer waiting
    // fails: packages/server/src/features/extraction.test.ts › can't be loaded
    if (!isLayerError(error)) throw error;
    postpone(error, layer, opened, computation);
    return undefined;
  });
  if (!ran) return;
  const { events, paused, features, searchedMs } = ran;
  if (searchedMs > 0 && !isBackfill) {
    runners.addSearch(layer.layer, searchedMs);
    // A definition that keeps state can block a process at another event each time, so that no search finds it.
    if (paused.length === 0 && runners.isPaused(layer.layer)) {
      const message = `definitions of layer ${layer.layer} block processes, but never twice at the same event`;
      collected.errors.set(layer.layer, new OperatorError("feature-paused", message));
    }
  }
  if (paused.length > 0) {
    const slowOfLayer = opened.flatMap(({ event: { eventId } }, index) =>
      (events[index] ?? []).flatMap((result, place) => {
        const feature = features[place];
        return feature && isOverBudget(result) ? [{ eventId, feature: feature.name }] : [];
      }),
    );
    slow.push(...slowOfLayer);
    await runners.renew(layer.layer, isBackfill ? [] : slowOfLayer.map(({ eventId }) => eventId));
  }
  const salts = randomBytes(opened.length * SALT_BYTES);
  const rows = opened.flatMap(({ event, exact, counted }, index) => {
    const results = events[index] ?? [];
    // guard(false): the event that is too slow is decided, although other features were not computed
    // fails: packages/server/src/features/slow-features.test.ts › longer than the search
    if (results.some(isOverBudget)) {
      failures.push({ event, layer: layer.layer, reason: "over-budget" });
      return [];
    }
    // guard(false): an event is decided by its own time, not by that of an event before it
    // fails: packages/server/src/features/slow-features.test.ts › too slow does not delay
    if (results.some(isPaused)) {
      undecided.add(event.eventId);
      return [];
    }
    if (!("keyId" in event.sealedUnder)) throw new Error("no features are computed of what only a hold keeps");
    const { keyId } = event.sealedUnder;
    const salt = salts.subarray(index * SALT_BYTES, (index + 1) * SALT_BYTES);
    const values = encodeFeatures(exact, results, policyVersion, salt);
    const { receivedAt, platform, sdkVersion } = event;
    const row = { ...event, layer: layer.layer, keyId };
    return [{ row, values, counted: { receivedAt, platform, sdkVersion, features, results, counted } }];
  });
  const sealing = featureSealer.sealMany(
    rows.map(({ row, values }) => ({ identity: row, keyId: row.keyId, bytes: values })),
  );
  const payloads = await sealing.catch((error: unknown) => {
    // guard(true): values that can't be sealed keep no values of other purposes waiting
    // fails: packages/server/src/features/vanishing-data.test.ts › keeps no values of other purposes waiting
    if (!isPartitionError(error)) throw error;
    postpone(error, layer, opened, computation);
    return undefined;
  });
  if (payloads)
    computed.push(...rows.map((one, index) => ({ ...one, row: { ...one.row, payload: payloads[index] as Buffer } })));
}

/** Runs the programs of the layer. @throws the error with which the layer did not start */
async function run(
  { executor, runners, coverage, startErrors }: Computation,
  layer: LayerRow,
  opened: readonly AssignedEvent[],
): Promise<BatchResults & Pick<OpenLayer, "features">> {
  const covers = coverage.covers.get(layer.purpose);
  if (!covers) throw new Error(`the policy has no purpose ${layer.purpose}, so its coverage is unknown`);
  if (startErrors.has(layer.layer)) throw startErrors.get(layer.layer);
  const { runner, features } = await runners.find(executor, layer);
  return { ...(await runner.run(opened.map(({ parsed }) => readEvent(parsed, covers)))), features };
}

/**
 * Keeps the due events of a layer due. If the programs of the layer can't be loaded, the events fail in it instead.
 * @throws the error, for events of a backfill that may be computed later.
 */
function postpone(
  error: unknown,
  layer: LayerRow,
  opened: readonly AssignedEvent[],
  { collected: { failures, waiting, errors }, isBackfill }: Computation,
): void {
  const isLost = hasCode(error, "feature-not-loadable");
  if (isBackfill && !isLost) throw error;
  errors.set(layer.layer, error);
  if (isLost) failures.push(...failuresIn(layer, opened, "error"));
  else for (const { event } of opened) waiting.add(event.eventId);
}

const failuresIn = (
  { layer }: LayerRow,
  opened: readonly AssignedEvent[],
  reason: FailureReason,
): readonly ExtractionFailure[] => opened.map(({ event }) => ({ event, layer, reason }));

/** Whether the error concerns only events of one purpose and time: the server can't seal values of their partition. */
const isPartitionError = (error: unknown): boolean => isPartitionMissing(error) || hasCode(error, "secret-missing");

/** Whether the definition took too long for this event itself. */
export const isOverBudget = (result: Result): boolean => result.state === "failed" && result.failure === "over-budget";

/** Whether the definition was not computed: it was too slow for an earlier event, or the search for it took too long. */
export const isPaused = (result: Result): boolean => result.state === "failed" && result.failure === "paused";

/** Whether the definition took too long. Such a result is not stored, because another computation could be faster. */
export const isTooSlow = (result: Result): boolean => isOverBudget(result) || isPaused(result);
