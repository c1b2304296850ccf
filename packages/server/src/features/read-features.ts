/** The features of events as a person or a program reads them: computed, pending or excluded. */
import type { FeatureSealer } from "../store/crypto/feature-sealer.ts";
import { listEvents } from "../store/events/list-events.ts";
import { findAttributes, type ListedEvent, type ReadOptions, receivedAtOf } from "../store/events/read-events.ts";
import { readPurposeIds } from "../purposes/policy-table.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { type FeatureName, type LayerRow, listLayers } from "./decisions.ts";
import { findDue } from "./extraction-due.ts";
import { findFailures } from "./failures.ts";
import { decodeFeatures } from "./feature-payload.ts";
import {
  type FeatureAttributes,
  type FeatureRow,
  findAttributesOfEvents,
  findFeatureAttributes,
} from "./feature-rows.ts";
import { isOf } from "./layers-of-event.ts";
import { openRow } from "./open-row.ts";

export interface ReadFeature {
  readonly feature: FeatureName;
  readonly state: string;
  readonly value: boolean | number | string | null;
  readonly failure: string | null;
  readonly inputs: readonly string[];
  readonly layer: number;
  readonly extracted_at: string;
}

/** An event and the state of its features, without their values. */
export interface ListedFeatures {
  readonly event_id: string;
  readonly received_at: string;
  readonly account: string;
  readonly action_id: string;
  readonly purpose: string;
  readonly status: "computed" | "pending" | "excluded";
  readonly reason: string | null;
  readonly rows: readonly FeatureAttributes[];
}

export interface FeaturesOfEvent extends Omit<ListedFeatures, "rows"> {
  readonly sha256: string | null;
  readonly features: readonly ReadFeature[];
}

export const isPending = ({ status }: ListedFeatures): boolean => status === "pending";

export type ReadSubject = { readonly eventId: string } | { readonly actionId: string } | { readonly account: string };

export type PageOptions = ReadOptions & { readonly after?: string | undefined };

/** The common members of events and of rows of features. */
type Attributes = Pick<ListedEvent, "event_id" | "received_at" | "account" | "action_id" | "purpose">;

/**
 * Lists a page of events with the features that were computed of them, newest event first, after the event `after`.
 * Restricted events are left out, unless the options ask for them. An expired event is listed if it still has feature
 * values.
 */
export async function listFeatures(
  executor: Executor,
  subject: ReadSubject,
  limit: number,
  options: PageOptions = {},
): Promise<readonly ListedFeatures[]> {
  const layers = await listLayers(executor);
  const purposes = await readPurposeIds(executor);
  // Due events are read before the rows: if the features of an event are stored in between, its rows are found. In the
  // other order, the event would seem neither due nor stored.
  const events = await eventsOf(executor, subject, limit, options);
  const due = await findDue(executor, idsOf(events));
  const rows = await findFeatureAttributes(executor, rowsOf(subject), limit * Math.max(1, layers.length), options);
  const listedById = new Map<string, { attributes: Attributes; isStored: boolean; rows: FeatureAttributes[] }>();
  for (const event of events) listedById.set(event.event_id, { attributes: event, isStored: true, rows: [] });
  for (const row of rows) {
    const one = listedById.get(row.event_id) ?? { attributes: row, isStored: false, rows: [] };
    listedById.set(row.event_id, one);
    one.rows.push(row);
  }
  const newest = [...listedById.values()]
    .toSorted((a, b) => (a.attributes.event_id < b.attributes.event_id ? 1 : -1))
    .slice(0, limit);
  const failures = await findFailures(executor, idsOf(newest.map(({ attributes }) => attributes)));
  return newest.map((listed) => {
    const { event_id, received_at, account, action_id, purpose } = listed.attributes;
    const names = { event_id, received_at, account, action_id, purpose: purposes.get(purpose) ?? "" };
    return { ...names, ...stateOfListed(listed, { layers, due, failures }), rows: listed.rows };
  });
}

/** An event, or what is left of it, and its rows of features. */
interface Listed {
  readonly attributes: Attributes;
  /** Whether the event itself is stored. */
  readonly isStored: boolean;
  readonly rows: readonly FeatureAttributes[];
}

interface Work {
  readonly layers: readonly LayerRow[];
  readonly due: ReadonlySet<string>;
  readonly failures: ReadonlyMap<string, ReadonlyMap<number, string>>;
}

type State = Pick<ListedFeatures, "status" | "reason">;

function stateOfListed({ attributes, isStored, rows }: Listed, { layers, due, failures }: Work): State {
  const { event_id, received_at } = attributes;
  const stored = storedOf(layers, rows);
  const missing = isStored ? layers.filter((layer) => isMissing(layer, attributes, stored)) : [];
  const reasons = missing.map(({ layer, active_from }) => {
    const failure = failures.get(event_id)?.get(layer);
    return failure ?? (received_at < active_from ? BEFORE_ADOPTION : "not-computed");
  });
  const isDue = due.has(event_id) && layers.some((layer) => isDueIn(layer, attributes, stored));
  return stateOf(rows.length > 0, isStored && isDue, reasons);
}

/** The features that the rows have. */
const storedOf = (layers: readonly LayerRow[], rows: readonly FeatureAttributes[]): ReadonlySet<FeatureName> =>
  new Set(rows.flatMap((row) => layers.find(({ layer }) => layer === row.layer)?.members ?? []));

/** The state of the features of an event, and how many are stored. */
export type FeatureState = State & { readonly features: number };

/**
 * The state of the features of stored events by the event's id, without their values. An event whose purpose has no
 * features has none.
 */
export async function findFeatureStates(
  executor: Executor,
  events: readonly ListedEvent[],
  options: ReadOptions,
): Promise<ReadonlyMap<string, FeatureState>> {
  const layers = await listLayers(executor);
  const purposes = new Set(layers.map(({ purpose }) => purpose));
  const featured = events.filter(({ purpose }) => purposes.has(purpose));
  // As in `listFeatures`, due events are read before the rows.
  const due = await findDue(executor, idsOf(featured));
  const rows = Map.groupBy(await findAttributesOfEvents(executor, featured, options), ({ event_id }) => event_id);
  const failures = await findFailures(executor, idsOf(featured));
  const states = new Map<string, FeatureState>();
  for (const attributes of featured) {
    const own = rows.get(attributes.event_id) ?? [];
    const isOfNone =
      own.length === 0 && !layers.some((one) => one.ended_at === null && one.purpose === attributes.purpose);
    if (isOfNone) continue;
    const state = stateOfListed({ attributes, isStored: true, rows: own }, { layers, due, failures });
    states.set(attributes.event_id, { ...state, features: storedOf(layers, own).size });
  }
  return states;
}

/**
 * Opens the values of listed events. An event gets the status `excluded` if none of its values can be opened. It is
 * left out if all of its values were deleted or restricted since the list was read.
 * @param rows the rows of the listed events that may be opened. @throws Unavailable
 */
export async function openListed(
  { executor, sealer }: { readonly executor: Executor; readonly sealer: FeatureSealer },
  listed: readonly ListedFeatures[],
  rows: readonly FeatureRow[],
): Promise<readonly FeaturesOfEvent[]> {
  const layers = await listLayers(executor);
  const byEvent = Map.groupBy(rows, ({ event_id }) => event_id);
  const result: FeaturesOfEvent[] = [];
  for (const { rows: ofEvent, ...event } of listed) {
    const given = byEvent.get(event.event_id) ?? [];
    // guard(false): an event is not reported as unreadable because its values were deleted
    if (ofEvent.length > 0 && given.length === 0) continue;
    const opened = await openRows(sealer, layers, given);
    const features = opened.flatMap((row) => row.features);
    const state = stateOfOpened(event, given.length, opened.length);
    result.push({ ...event, ...state, sha256: opened.at(-1)?.sha256 ?? null, features });
  }
  return result;
}

/** The state of a listed event, some of whose rows may be damaged. */
function stateOfOpened(
  { status, reason }: Pick<ListedFeatures, "status" | "reason">,
  given: number,
  opened: number,
): Pick<ListedFeatures, "status" | "reason"> {
  // guard(true): damaged values are not reported as computed
  if (status === "pending" || opened === given) return { status, reason };
  return { status: opened === 0 ? "excluded" : "computed", reason: UNREADABLE };
}

const BEFORE_ADOPTION = "before-adoption";
const UNREADABLE = "unreadable";

/** @param reasons why layers have no values. */
function stateOf(
  hasValues: boolean,
  isPending: boolean,
  reasons: readonly string[],
): Pick<FeaturesOfEvent, "status" | "reason"> {
  if (isPending) return { status: "pending", reason: null };
  if (!hasValues) return { status: "excluded", reason: reasons[0] ?? "no-layer" };
  return { status: "computed", reason: reasons.find((reason) => reason !== BEFORE_ADOPTION) ?? null };
}

const idsOf = (events: readonly Pick<Attributes, "event_id">[]): readonly string[] =>
  events.map(({ event_id }) => event_id);

/** Whether the layer is active for the purpose of the event, and has a feature that no row of the event has. */
const isMissing = (layer: LayerRow, event: Attributes, stored: ReadonlySet<FeatureName>): boolean =>
  layer.ended_at === null && layer.purpose === event.purpose && layer.members.some((name) => !stored.has(name));

/** Whether a worker computes a due event for the layer, which may have ended since the event was received. */
const isDueIn = (layer: LayerRow, event: Attributes, stored: ReadonlySet<FeatureName>): boolean =>
  isOf(layer, { purpose: event.purpose, receivedAt: Date.parse(event.received_at) }) &&
  layer.members.some((name) => !stored.has(name));

const rowsOf = (subject: ReadSubject) =>
  "eventId" in subject ? { ...subject, receivedAt: receivedAtOf(subject.eventId) } : subject;

async function eventsOf(
  executor: Executor,
  subject: ReadSubject,
  limit: number,
  { after, ...options }: PageOptions,
): Promise<readonly ListedEvent[]> {
  if (!("eventId" in subject)) return listEvents(executor, { ...subject, ...options }, limit, after);
  const event = await findAttributes(executor, subject.eventId, options);
  return event ? [event] : [];
}

async function openRows(
  sealer: FeatureSealer,
  layers: readonly LayerRow[],
  rows: readonly FeatureRow[],
): Promise<readonly OpenedRow[]> {
  return (await Promise.all(rows.map((row) => openFeatures(sealer, layers, row)))).filter((one) => one !== undefined);
}

interface OpenedRow {
  readonly sha256: string;
  readonly features: readonly ReadFeature[];
}

/** @returns `undefined` for a row whose secrets were destroyed or lost, or that was damaged. @throws Unavailable */
export async function openFeatures(
  sealer: FeatureSealer,
  layers: readonly LayerRow[],
  row: FeatureRow,
): Promise<OpenedRow | undefined> {
  const { layer, extracted_at } = row;
  const bytes = await openRow(sealer, row);
  if (!bytes) return undefined;
  const { sha256, results } = decodeFeatures(bytes);
  const members = layers.find((one) => one.layer === layer)?.members ?? [];
  const features = results.map(({ state, value = null, failure = null, inputs }, index) => {
    return { feature: members[index] ?? "", state, value, failure, inputs, layer, extracted_at };
  });
  return { sha256, features };
}
