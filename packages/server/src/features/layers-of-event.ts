/**
 * The layers in which an event has rows. Several layers may have the same feature: after a retirement, a new layer
 * continues with the other features, and a retired feature may be adopted again. Even so, each feature is computed and
 * counted once for an event.
 */
import { partitionQuery, queryPartitions } from "../store/events/partition-slices.ts";
import type { StoredEvent } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";
import type { FeatureName, LayerRow } from "./decisions.ts";
import { type DueEvent, findDue } from "./extraction-due.ts";
import { findFeaturePartitions } from "./feature-partitions.ts";

/**
 * Whether the event may have a row in the layer. An event from before the adoption may have one, because a backfill can
 * compute it.
 */
export const isOf = ({ purpose, ended_at }: LayerRow, event: Omit<DueEvent, "eventId">): boolean =>
  purpose === event.purpose && (ended_at === null || event.receivedAt < Date.parse(ended_at));

/** What is known of an event before its features are computed. */
export interface KnownOfEvent {
  /** Layers that have a row of it. */
  readonly stored: ReadonlySet<number>;
  /** Whether it is due. A due event is computed in all of its layers, so a backfill leaves it out. */
  readonly isDue: boolean;
}

export interface Assigned {
  readonly layer: LayerRow;
  /** The features of the layer that no other layer has for the event. */
  readonly own: ReadonlySet<FeatureName>;
}

/**
 * Chooses the layers that the event gets a row in.
 * @param layers of its purpose, in the order of their adoption. @param only the layers of a backfill, if one computes
 * the event. No other layer is chosen then.
 */
export function assignLayers(
  layers: readonly LayerRow[],
  { stored, isDue }: KnownOfEvent,
  only?: readonly number[],
): readonly Assigned[] {
  // A due event gets its layers by the same rule each time, although it may have waited for some of them.
  // guard(true): an event that waits for a layer counts each feature once
  const former = isDue ? [] : layers.filter(({ layer }) => stored.has(layer));
  const covered = new Set(former.flatMap(({ members }) => members));
  const isWanted = ({ layer }: LayerRow): boolean => only?.includes(layer) ?? true;
  const assigned: Assigned[] = [];
  for (const layer of layers) {
    if (!isDue && !isWanted(layer)) continue;
    const own = new Set(layer.members.filter((name) => !covered.has(name)));
    for (const name of own) covered.add(name);
    // guard(true): a feature is computed once of an event, although several layers have it
    if (own.size > 0 || stored.has(layer.layer)) assigned.push({ layer, own });
  }
  return assigned.filter(({ layer }) => isWanted(layer));
}

/** Whether two layers of the same purpose have a feature in common. */
export function shareFeatures(layers: readonly LayerRow[]): boolean {
  // Most events have one layer. Without this line, the texts below would be made for each of these events.
  if (layers.length < 2) return false;
  const names = layers.flatMap(({ purpose, members }) => members.map((name) => `${purpose} ${name}`));
  return new Set(names).size < names.length;
}

const FIND_STORED = partitionQuery(
  ["text[]", "timestamptz[]", "uuid[]"],
  { event_id: "uuid", layer: "int4" },
  (
    within,
  ) => `select f.event_id, f.layer from unnest($1::text[], $2::timestamptz[], $3::uuid[]) n (account, received_at, event_id)
      join feature_row f on ${within("f")} and f.account = n.account and f.received_at = n.received_at
        and f.event_id = n.event_id`,
);

/** Reads what is known of events. @param areDue whether the caller claimed them as due. */
export async function readKnown(
  executor: Executor,
  events: readonly StoredEvent[],
  areDue: boolean,
): Promise<ReadonlyMap<string, KnownOfEvent>> {
  // This is read before the rows: if the features of an event are stored in between, its rows are found. In the other
  // order, the event would seem neither due nor stored.
  const eventIds = events.map(({ eventId }) => eventId);
  const due = areDue ? new Set(eventIds) : await findDue(executor, eventIds);
  const times = events.map(({ receivedAt }) => receivedAt);
  const partitions = await findFeaturePartitions(executor, { from: Math.min(...times), to: Math.max(...times) });
  const rows = queryPartitions(executor, FIND_STORED, partitions, [
    events.map(({ account }) => account),
    times.map((at) => new Date(at).toISOString()),
    eventIds,
  ]);
  const stored = new Map(eventIds.map((eventId): [string, Set<number>] => [eventId, new Set()]));
  for await (const { event_id, layer } of rows) stored.get(event_id)?.add(layer);
  return new Map([...stored].map(([eventId, layers]) => [eventId, { stored: layers, isDue: due.has(eventId) }]));
}
