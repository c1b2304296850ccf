/** Counts what an export of features would have, before anybody approves it. */
import { SMALL } from "../confusion.ts";
import { roundedCount } from "../counted-results.ts";
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

/** Numbers as a reader sees them: rounded down to tens, `null` where one account can be more than a tenth of it. */
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

/** The rows of each account: labels can name one account many times, and a history has many of its events. */
class RowsOfAccounts {
  readonly #rows = new Map<string, number>();
  #most = 0;

  add(account: string, rows: number): void {
    const sum = (this.#rows.get(account) ?? 0) + rows;
    this.#rows.set(account, sum);
    this.#most = Math.max(this.#most, sum);
  }

  show(number: number): number | null {
    // guard: a number says nothing of one account
    return number > 0 && number < SMALL * this.#most ? null : roundedCount(number);
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
  const states = columns.map(() => new Map<string, number>());
  const accounts = new RowsOfAccounts();
  let [read, rows, empty, limited] = [0, 0, 0, 0];
  const batches = foundBatches(ports, { labels_sha256: labels.sha256 }, source, { scope, leftOut: new Set() });
  for await (const batch of batches) {
    for (const [index, { label }] of batch.labels.entries()) {
      const events = batch.found[index] ?? [];
      const ofLabel = Math.max(1, events.length);
      rows += ofLabel;
      accounts.add(events[0]?.account ?? subjectOf(label), ofLabel);
      if (events.length === 0) empty++;
      for (const { cells } of events) {
        for (const [column, { state }] of cells.entries()) add(states[column], state, 1);
      }
    }
    limited += batch.limited;
    onProgress((read += batch.size));
  }
  for (const ofColumn of states) add(ofColumn, "no-row", empty);
  const show = (number: number): number | null => accounts.show(number);
  return {
    rows: historyMs === null ? rows : show(rows),
    empty_rows: show(empty),
    limited_labels: show(limited),
    columns: columns.map(({ feature, meaning }, index) => {
      const shown = [...(states[index] ?? [])].map(([state, count]) => [state, show(count)] as const);
      return { feature, meaning, states: Object.fromEntries(shown) };
    }),
  };
}

/** The account of a label, or what it names in place of one. */
function subjectOf({ subject }: Label): string {
  if (subject.account !== "") return subject.account;
  if (subject.kind === "event") return subject.eventId;
  return subject.kind === "action" ? subject.actionId : "";
}

function add(counts: Map<string, number> | undefined, state: string, count: number): void {
  if (count > 0) counts?.set(state, (counts.get(state) ?? 0) + count);
}
