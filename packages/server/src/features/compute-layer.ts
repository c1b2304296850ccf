/** Computes the features of a layer for opened events, and seals their values. */
import { randomBytes } from "node:crypto";
import { readEvent } from "@device-risk-signals/features/readings";
import { isTimeLimited } from "@device-risk-signals/features/result";
import type { BatchResults } from "@device-risk-signals/features/runner";
import type { FeatureSealer } from "../store/crypto/feature-sealer.ts";
import { hasCode } from "../base/errors/operator-error.ts";
import { isPartitionMissing, type Sealer } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";
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
  /** The features that were not computed for some event, because of their time for it, or because the account or the feature has no time left. */
  readonly slow: Set<FeatureName>;
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

/** Computes events of a layer. A feature that is too slow for an event fails alone. */
export async function computeLayer(
  computation: Computation,
  layer: LayerRow,
  opened: readonly AssignedEvent[],
): Promise<void> {
  const { featureSealer, coverage, collected } = computation;
  const { policyVersion } = coverage;
  const { computed, slow } = collected;
  const ran = await run(computation, layer, opened).catch((error: unknown) => {
    // guard(true): a layer that can't be computed keeps no other layer waiting
    if (!isLayerError(error)) throw error;
    postpone(error, layer, opened, computation);
    return undefined;
  });
  if (!ran) return;
  const { events, features } = ran;
  const salts = randomBytes(opened.length * SALT_BYTES);
  const rows = opened.map(({ event, exact, counted }, index) => {
    const results = events[index] ?? [];
    for (const [place, { name }] of features.entries()) {
      if (results[place] && isTimeLimited(results[place])) slow.add(name);
    }
    if (!("keyId" in event.sealedUnder)) throw new Error("no features are computed of what only a hold keeps");
    const { keyId } = event.sealedUnder;
    const salt = salts.subarray(index * SALT_BYTES, (index + 1) * SALT_BYTES);
    const values = encodeFeatures(exact, results, policyVersion, salt);
    const { receivedAt, platform, sdkVersion } = event;
    const row = { ...event, layer: layer.layer, keyId };
    return { row, values, counted: { receivedAt, platform, sdkVersion, features, results, counted } };
  });
  const sealing = featureSealer.sealMany(
    rows.map(({ row, values }) => ({ identity: row, keyId: row.keyId, bytes: values })),
  );
  const payloads = await sealing.catch((error: unknown) => {
    // guard(true): values that can't be sealed keep no values of other purposes waiting
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
  const inputs = opened.map(({ parsed }) => readEvent(parsed, covers));
  const accounts = opened.map(({ event }) => event.account);
  const names = features.map(({ name }) => name);
  const { events } = await runners.accountTime.spend(accounts, (shares) =>
    runners.featureTime.spend(names, (times) => runner.run(inputs, shares, times)),
  );
  return { events, features };
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
