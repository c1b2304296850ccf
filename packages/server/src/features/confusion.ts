/** How often two versions of a feature gave which results for the same events. */

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

export interface Suppressed {
  readonly cells: readonly ShownCell[];
  /** Whether the total would tell the number of a small cell: there were too few others to suppress. */
  readonly isTotalTelling: boolean;
}

/**
 * Suppresses small cells, and the next smallest ones until the total tells nothing about a small one: at least two are
 * suppressed, which have at least 10 events together.
 */
export function suppressSmall(cells: readonly Cell[]): Suppressed {
  const ascending = cells.toSorted((one, other) => one.events - other.events);
  const hidden = new Set<Cell>();
  let sum = 0;
  for (const cell of ascending) {
    const isSmall = cell.events < SMALL;
    if (!isSmall && !isTelling(hidden.size, sum)) break;
    hidden.add(cell);
    sum += cell.events;
  }
  return {
    cells: cells.map((cell) => (hidden.has(cell) ? { ...cell, events: null } : cell)),
    isTotalTelling: isTelling(hidden.size, sum),
  };
}

const isTelling = (hidden: number, sum: number): boolean => hidden > 0 && (hidden < 2 || sum < SMALL);
