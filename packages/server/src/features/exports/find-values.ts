/** Finds the stored values that existed at the time of each label. */
import type { ExportAttribute } from "@device-risk-signals/admin-api";
import { receivedAtOf } from "../../store/events/read-events.ts";
import type { FeatureSealer } from "../../store/crypto/feature-sealer.ts";
import type { LayerRow } from "../decisions.ts";
import type { FeatureRow } from "../feature-rows.ts";
import { findRowsAsOf } from "../feature-rows-as-of.ts";
import { sealedOf } from "../open-row.ts";
import { decodeFeatures, decodeValues } from "../feature-payload.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import type { Label } from "./labels.ts";
import type { Cell } from "./table.ts";

/** Maximum number of events of a label that an export has. */
export const MAX_EVENTS = 1_000;
/** Number of labels whose events are in memory together, if each label can have that many. */
const BATCH_WITH_HISTORY = 10;

export const batchSizeOf = ({ historyMs }: Pick<ValueScope, "historyMs">): number | undefined =>
  historyMs === null ? undefined : BATCH_WITH_HISTORY;

/** The values of one event. */
export interface FoundValues {
  readonly account: string;
  readonly actionId: string;
  readonly eventId: string;
  readonly receivedAt: string;
  /** The time at which the last of the values was stored. */
  readonly extractedAt: string;
  readonly attributes: Readonly<Record<ExportAttribute, string>>;
  /** The values in the order of the features. */
  readonly cells: readonly Cell[];
}

export interface ValuePorts {
  readonly executor: Executor;
  readonly sealer: FeatureSealer;
}

export interface ValueScope {
  readonly purpose: number;
  /** `id@version`. */
  readonly features: readonly string[];
  /** The layers of the purpose that have a feature of the export. */
  readonly layers: readonly LayerRow[];
  /** Whether the clock of the export is `known`. */
  readonly isKnown: boolean;
  readonly inputStates: boolean;
  readonly historyMs: number | null;
  /** A timestamp of PostgreSQL. Values that were stored later are not found. */
  readonly watermark: string;
}

/** Finds the sealed values for each label, by its place. */
export function findSealed(
  executor: Executor,
  { purpose, layers, isKnown, historyMs, watermark }: Omit<ValueScope, "features" | "inputStates">,
  labels: readonly Label[],
): ReturnType<typeof findRowsAsOf> {
  const subjects = labels.map(({ subject, at }) =>
    subject.kind === "event"
      ? { ...subject, at, receivedAt: receivedAtOf(subject.eventId).getTime() }
      : { ...subject, at },
  );
  const history = historyMs === null ? undefined : { ms: historyMs, maxEvents: MAX_EVENTS + 1 };
  const scope = { purpose, layers: layers.map(({ layer }) => layer), isKnown, watermark, history };
  return findRowsAsOf(executor, subjects, scope);
}

/**
 * Finds the values for each label, from the newest event that the clock allows. With a history it finds those of all
 * events of this time, the newest first, up to one more than the maximum. Restricted accounts have no values.
 */
export async function findValues(
  { executor, sealer }: ValuePorts,
  scope: ValueScope,
  labels: readonly Label[],
): Promise<readonly (readonly FoundValues[])[]> {
  const { features, layers, inputStates } = scope;
  const rows = await findSealed(executor, scope, labels);
  const all = [...rows.values()].flat();
  const opened = await sealer.openMany(all.map(sealedOf));
  const bytesOf = new Map(all.map((row, index) => [row, opened[index]]));
  // If two layers have a feature, the first one counts.
  const byLayer = layers.toSorted((a, b) => a.layer - b.layer);
  const placesOf = new Map(byLayer.map(({ layer, members }) => [layer, members.map((name) => features.indexOf(name))]));
  const valuesOf = (own: readonly FeatureRow[]): FoundValues | undefined => {
    const [first] = own;
    if (!first) return undefined;
    const cells = Array.from(features, () => NOT_COMPUTED);
    let extractedAt = "";
    for (const row of own.toSorted((a, b) => a.layer - b.layer)) {
      if (row.extracted_at > extractedAt) extractedAt = row.extracted_at;
      const bytes = bytesOf.get(row);
      const values = bytes && (inputStates ? resultsOf(bytes) : decodeValues(bytes));
      for (const [member, column] of (placesOf.get(row.layer) ?? []).entries()) {
        if (column === -1 || cells[column] !== NOT_COMPUTED) continue;
        cells[column] = values?.[member] ?? UNREADABLE;
      }
    }
    const { platform, sdk_version, app_version, action_type } = first;
    const attributes = { platform, sdk_version, app_version, action_type };
    const { account, action_id: actionId, event_id: eventId, received_at: receivedAt } = first;
    return { account, actionId, eventId, receivedAt, extractedAt, attributes, cells };
  };
  return labels.map((_, place) =>
    eventsOf(rows.get(place) ?? [])
      .flatMap((own) => valuesOf(own) ?? [])
      .slice(0, MAX_EVENTS + 1),
  );
}

/** The rows of each event, the newest event first. */
const eventsOf = (rows: readonly FeatureRow[]): readonly (readonly FeatureRow[])[] =>
  [...Map.groupBy(rows, ({ received_at, event_id }) => `${received_at} ${event_id}`)]
    .toSorted(([one], [other]) => (one > other ? -1 : 1))
    .map(([, own]) => own);

const resultsOf = (bytes: Buffer): readonly Cell[] =>
  decodeFeatures(bytes).results.map(({ state, value = null, inputs }) => ({ state, value, inputs }));

/** The cell of a feature whose stored values can't be opened. */
const UNREADABLE: Cell = { value: null, state: "unreadable" };
/** The cell of a feature of which the event has no value, although it has values of another layer. */
const NOT_COMPUTED: Cell = { value: null, state: "not-computed" };
