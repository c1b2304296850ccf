/** Counts the pairs of results that two versions of a feature gave for the same events. */

/** Fewer events than this are not shown as a number. */
export const SMALL = 10;

export interface Cell {
  readonly platform: string;
  readonly sdk_version: string;
  /** A state, or `observed` with the group of the value. */
  readonly before: string;
  readonly after: string;
  readonly events: number;
}

/** A cell as it is shown; `null`: suppressed. */
export type ShownCell = Omit<Cell, "events"> & { readonly events: number | null };

export class Confusion {
  readonly #counts = new Map<string, number>();

  add(cell: Omit<Cell, "events">): void {
    const key = JSON.stringify([cell.platform, cell.sdk_version, cell.before, cell.after]);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** In the order of their names. */
  get cells(): readonly Cell[] {
    return [...this.#counts]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, events]) => {
        const [platform, sdk_version, before, after] = JSON.parse(key) as [string, string, string, string];
        return { platform, sdk_version, before, after, events };
      });
  }
}

/** The counts of a comparison, before small numbers are suppressed. */
export interface Counts {
  readonly cells: readonly Cell[];
  /** Events for which both versions were computed: the sum of the cells. */
  readonly events: number;
  /** Events without a result. */
  readonly undecided: number;
}

/** Counts as they are shown; `null`: suppressed. */
export interface ShownCounts {
  readonly cells: readonly ShownCell[];
  readonly events: number | null;
  readonly undecided: number | null;
}

/**
 * Suppresses small numbers, and then the next smallest ones, so that the total reveals no small number: at least two
 * numbers are suppressed, and together they have at least 10 events. Undecided events are one of these numbers. A
 * caller can know the number of all events. Therefore the number of computed events is suppressed together with that of
 * undecided ones. The number of computed events is also suppressed if there are too few other numbers to suppress.
 */
export function suppressSmall({ cells, events, undecided }: Counts): ShownCounts {
  const withoutResult = { events: undecided };
  const numbers = undecided === 0 ? cells : [...cells, withoutResult];
  const hidden = new Set<Pick<Cell, "events">>();
  let sum = 0;
  for (const number of numbers.toSorted((one, other) => one.events - other.events)) {
    const isSmall = number.events < SMALL;
    if (!isSmall && !isTelling(hidden.size, sum)) break;
    hidden.add(number);
    sum += number.events;
  }
  const hidesUndecided = hidden.has(withoutResult);
  return {
    cells: cells.map((cell) => (hidden.has(cell) ? { ...cell, events: null } : cell)),
    events: hidesUndecided || isTelling(hidden.size, sum) ? null : events,
    undecided: hidesUndecided ? null : undecided,
  };
}

const isTelling = (hidden: number, sum: number): boolean => hidden > 0 && (hidden < 2 || sum < SMALL);
