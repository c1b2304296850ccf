/** The stored values that were there as of the time of each label. */
import { receivedAtOf } from "../events/read-events.ts";
import type { FeatureSealer } from "../crypto/feature-sealer.ts";
import type { LayerRow } from "../features/decisions.ts";
import { findRowsAsOf } from "../features/feature-rows-as-of.ts";
import { openFeatures, type ReadFeature } from "../features/read-features.ts";
import type { Executor } from "../postgres/executor.ts";
import type { Label } from "./labels.ts";

export interface FoundValues {
  readonly account: string;
  readonly actionId: string;
  readonly eventId: string;
  readonly receivedAt: string;
  /** When the last one of the values was stored. */
  readonly extractedAt: string;
  /** Results by `id@version`; `undefined` where the row can't be opened. */
  readonly features: ReadonlyMap<string, ReadFeature | undefined>;
}

export interface ValuePorts {
  readonly executor: Executor;
  readonly sealer: FeatureSealer;
}

export interface ValueScope {
  readonly purpose: number;
  /** The layers of the purpose that have a feature of the export. */
  readonly layers: readonly LayerRow[];
  readonly isKnown: boolean;
  /** Values that were stored later are not found: a timestamp of PostgreSQL. */
  readonly watermark: string;
}

/** Finds the values for each label: those of the newest event that the clock allows. Restricted accounts have none. */
export async function findValues(
  { executor, sealer }: ValuePorts,
  { purpose, layers, isKnown, watermark }: ValueScope,
  labels: readonly Label[],
): Promise<readonly (FoundValues | undefined)[]> {
  const subjects = labels.map(({ subject, at }) =>
    subject.kind === "event"
      ? { ...subject, at, receivedAt: receivedAtOf(subject.eventId).getTime() }
      : { ...subject, at },
  );
  const rows = await findRowsAsOf(executor, subjects, {
    purpose,
    layers: layers.map(({ layer }) => layer),
    isKnown,
    watermark,
  });
  return Promise.all(
    labels.map(async (_, place) => {
      const own = rows.get(place);
      const [first] = own ?? [];
      if (!own || !first) return undefined;
      const features = new Map<string, ReadFeature | undefined>();
      let extractedAt = "";
      // A feature that two layers have is of the first one.
      for (const row of own.toSorted((a, b) => a.layer - b.layer)) {
        const opened = await openFeatures(sealer, layers, row);
        const members = layers.find(({ layer }) => layer === row.layer)?.members ?? [];
        if (row.extracted_at > extractedAt) extractedAt = row.extracted_at;
        for (const [index, name] of members.entries()) {
          if (!features.has(name)) features.set(name, opened?.features[index]);
        }
      }
      const { account, action_id: actionId, event_id: eventId, received_at: receivedAt } = first;
      return { account, actionId, eventId, receivedAt, extractedAt, features };
    }),
  );
}
