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

/**
 * Numbers of accounts, rounded down to tens; `null` is fewer than ten, also none. Labels can name one account many times,
 * so that numbers of rows would tell of this account. States of fewer than ten accounts are left out.
 */
export interface ExportCounts {
  /** Rows. Those of a history are rounded down to a multiple of ten times the most rows of one account; `null`: to 0. */
  readonly rows: number | null;
  readonly empty_rows: number | null;
  readonly limited_labels: number | null;
  readonly columns: {
    readonly feature: string;
    readonly meaning: string;
    readonly states: Record<string, number>;
  }[];
}

/** Numbers the accounts of a plan, and adds up the rows of each. */
class PlannedAccounts {
  readonly #places = new Map<string, number>();
  readonly #rows: number[] = [];
  #most = 0;

  add(account: string, rows: number): number {
    const place = this.#places.get(account) ?? this.#places.size;
    this.#places.set(account, place);
    const sum = (this.#rows[place] ?? 0) + rows;
    this.#rows[place] = sum;
    this.#most = Math.max(this.#most, sum);
    return place;
  }

  showRows(rows: number): number | null {
    return rows - (rows % (SMALL * this.#most)) || null;
  }
}

/** A set of accounts, by their places: a bit each, because a plan has many states of many accounts. */
class AccountSet {
  #bits = new Uint8Array(1_024);
  #size = 0;

  add(place: number): void {
    const [at, bit] = [place >> 3, 1 << (place & 7)];
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(2 * at);
      larger.set(this.#bits);
      this.#bits = larger;
    }
    if ((this.#bits[at] ?? 0) & bit) return;
    this.#bits[at] = (this.#bits[at] ?? 0) | bit;
    this.#size++;
  }

  get shown(): number | null {
    // guard: a number says nothing of a few accounts
    return this.#size < SMALL ? null : roundedCount(this.#size);
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
  const states = columns.map(() => new Map<string, AccountSet>());
  const accounts = new PlannedAccounts();
  const [empty, limited] = [new AccountSet(), new AccountSet()];
  let [read, rows] = [0, 0];
  const batches = foundBatches(ports, { labels_sha256: labels.sha256 }, source, { scope, leftOut: new Set() });
  for await (const batch of batches) {
    for (const [index, { label }] of batch.labels.entries()) {
      const events = batch.found[index] ?? [];
      const ofLabel = Math.max(1, events.length);
      rows += ofLabel;
      const place = accounts.add(events[0]?.account ?? subjectOf(label), ofLabel);
      if (batch.limited.has(index)) limited.add(place);
      if (events.length === 0) {
        empty.add(place);
        for (const ofColumn of states) setOf(ofColumn, "no-row").add(place);
      }
      for (const { cells } of events) {
        for (const [column, { state }] of cells.entries()) setOf(states[column], state).add(place);
      }
    }
    onProgress((read += batch.size));
  }
  return {
    rows: historyMs === null ? rows : accounts.showRows(rows),
    empty_rows: empty.shown,
    limited_labels: limited.shown,
    columns: columns.map(({ feature, meaning }, index) => {
      const shown = [...(states[index] ?? [])].map(([state, { shown: number }]) => [state, number] as const);
      const large = shown.filter((entry): entry is readonly [string, number] => entry[1] !== null);
      return { feature, meaning, states: Object.fromEntries(large) };
    }),
  };
}

/** The account of a label, or what it names in place of one. */
function subjectOf({ subject }: Label): string {
  if (subject.account !== "") return subject.account;
  if (subject.kind === "event") return subject.eventId;
  return subject.kind === "action" ? subject.actionId : "";
}

function setOf(sets: Map<string, AccountSet> = new Map(), state: string): AccountSet {
  const set = sets.get(state) ?? new AccountSet();
  sets.set(state, set);
  return set;
}
