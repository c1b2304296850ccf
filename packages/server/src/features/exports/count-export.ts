/** Counts what an export of features would have, before anybody approves it. */
import { showCount } from "../counted-results.ts";
import type { CheckedLabels, LabelSource } from "./check-labels.ts";
import type { ExportOrder } from "./export-table.ts";
import type { ValuePorts } from "./find-values.ts";
import { foundBatches } from "./found-batches.ts";
import { planOf } from "./plan-export.ts";

interface CountPorts extends ValuePorts {
  /** @param labels number of labels that are processed. */
  readonly onProgress: (labels: number) => void;
}

/** Numbers as a reader sees them: rounded down to tens, `null` from 1 to 9. */
export interface ExportCounts {
  readonly rows: number | null;
  readonly empty_rows: number | null;
  readonly limited_labels: number | null;
  readonly columns: {
    readonly feature: string;
    readonly meaning: string;
    readonly states: Record<string, number | null>;
  }[];
}

/** @param labels the result of `prepareExport` for the same order and source. */
export async function countExport(
  { onProgress, ...ports }: CountPorts,
  { purpose, features, clock, historyMs }: Pick<ExportOrder, "purpose" | "features" | "clock" | "historyMs">,
  source: LabelSource,
  labels: CheckedLabels,
): Promise<ExportCounts> {
  const { columns, layers } = await planOf(ports.executor, purpose, features, false);
  const isKnown = clock === "known";
  const scope = { purpose, features, layers, isKnown, inputStates: false, historyMs, watermark: "infinity" };
  const states = columns.map(() => new Map<string, number>());
  let [read, rows, empty, limited] = [0, 0, 0, 0];
  const batches = foundBatches(ports, { labels_sha256: labels.sha256 }, source, { scope, leftOut: new Set() });
  for await (const batch of batches) {
    for (const events of batch.found) {
      rows += Math.max(1, events.length);
      if (events.length === 0) empty++;
      for (const { cells } of events) {
        for (const [index, { state }] of cells.entries()) add(states[index], state, 1);
      }
    }
    limited += batch.limited;
    onProgress((read += batch.size));
  }
  for (const ofColumn of states) add(ofColumn, "no-row", empty);
  return {
    rows: historyMs === null ? rows : showCount(rows),
    empty_rows: showCount(empty),
    limited_labels: showCount(limited),
    columns: columns.map(({ feature, meaning }, index) => {
      const shown = [...(states[index] ?? [])].map(([state, count]) => [state, showCount(count)] as const);
      return { feature, meaning, states: Object.fromEntries(shown) };
    }),
  };
}

function add(counts: Map<string, number> | undefined, state: string, count: number): void {
  if (count > 0) counts?.set(state, (counts.get(state) ?? 0) + count);
}
