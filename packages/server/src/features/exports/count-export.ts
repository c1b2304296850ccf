/** Counts what an export of features would have, before anybody approves it. */
import { SMALL } from "../confusion.ts";
import { roundedCount, showCount } from "../counted-results.ts";
import type { CheckedLabels, LabelSource } from "./check-labels.ts";
import type { Label } from "./labels.ts";
import type { ExportOrder } from "./export-table.ts";
import type { ValuePorts } from "./find-values.ts";
import { foundBatches } from "./found-batches.ts";
import { planOf } from "./plan-export.ts";

interface CountPorts extends ValuePorts {
  /** @param labels number of labels that are processed. */
  readonly onProgress: (labels: number) => void;
}

/** Numbers as a reader sees them: rounded down to tens, `null` for those of one to nine accounts. */
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

/** A number with the first accounts that it is of: labels can name one account many times. */
class Count {
  number = 0;
  readonly #accounts = new Set<string>();

  add(account: string, by = 1): void {
    this.number += by;
    if (this.#accounts.size < SMALL) this.#accounts.add(account);
  }

  get shown(): number | null {
    // guard: a number says nothing of a few accounts
    return this.number > 0 && this.#accounts.size < SMALL ? null : roundedCount(this.number);
  }
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
  const states = columns.map(() => new Map<string, Count>());
  const [rows, empty] = [new Count(), new Count()];
  let [read, limited] = [0, 0];
  const batches = foundBatches(ports, { labels_sha256: labels.sha256 }, source, { scope, leftOut: new Set() });
  for await (const batch of batches) {
    for (const [index, { label }] of batch.labels.entries()) {
      const events = batch.found[index] ?? [];
      const subject = subjectOf(label);
      rows.add(events[0]?.account ?? subject, Math.max(1, events.length));
      if (events.length === 0) {
        empty.add(subject);
        for (const ofColumn of states) countOf(ofColumn, "no-row").add(subject);
      }
      for (const { account, cells } of events) {
        for (const [column, { state }] of cells.entries()) countOf(states[column], state).add(account);
      }
    }
    limited += batch.limited;
    onProgress((read += batch.size));
  }
  return {
    rows: historyMs === null ? rows.number : rows.shown,
    empty_rows: empty.shown,
    limited_labels: showCount(limited),
    columns: columns.map(({ feature, meaning }, index) => {
      const shown = [...(states[index] ?? [])].map(([state, count]) => [state, count.shown] as const);
      return { feature, meaning, states: Object.fromEntries(shown) };
    }),
  };
}

/** The account of a label, or its event if it names none. */
const subjectOf = ({ subject }: Label): string =>
  subject.kind === "event" ? subject.account || subject.eventId : subject.account;

function countOf(counts: Map<string, Count> = new Map(), state: string): Count {
  const count = counts.get(state) ?? new Count();
  counts.set(state, count);
  return count;
}
