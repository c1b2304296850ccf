/** What the live view keeps of the events that arrive: a ring, newest first; what it drops is counted. */
import type { Event } from "@device-risk-signals/admin-api";

/** Events that the page keeps; older ones are dropped and counted. */
export const RING = 10_000;

export interface Tail {
  /** Newest first. */
  readonly events: readonly Event[];
  /** While it is paused: newer events, which are not shown. */
  readonly waiting: readonly Event[];
  readonly isPaused: boolean;
  /** Events that the page no longer has. */
  readonly dropped: number;
  /** Whether the server had more events in a second than it answers with. */
  readonly hasGap: boolean;
  readonly error: unknown;
  /** When the last answer came; milliseconds since the Unix epoch. */
  readonly at: number | undefined;
}

export type Change =
  | { readonly kind: "answered"; readonly events: readonly Event[]; readonly more: boolean }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "paused" | "resumed" | "restarted" };

export const EMPTY: Tail = {
  events: [],
  waiting: [],
  isPaused: false,
  dropped: 0,
  hasGap: false,
  error: undefined,
  at: undefined,
};

const newestFirst = (a: Event, b: Event): number =>
  b.received_at.localeCompare(a.received_at) || b.event_id.localeCompare(a.event_id);

export function changed(tail: Tail, change: Change): Tail {
  switch (change.kind) {
    case "answered": {
      const known = new Set([...tail.events, ...tail.waiting].map(({ event_id }) => event_id));
      const fresh = change.events.filter(({ event_id }) => !known.has(event_id));
      const answered = {
        ...tail,
        error: undefined,
        at: Date.now(),
        hasGap: tail.hasGap || (change.more && known.size > 0),
      };
      if (fresh.length === 0) return answered;
      if (tail.isPaused) return { ...answered, waiting: [...fresh, ...tail.waiting].toSorted(newestFirst) };
      return cut({ ...answered, events: [...fresh, ...tail.events].toSorted(newestFirst) });
    }
    case "failed":
      return { ...tail, error: change.error };
    case "paused":
      return { ...tail, isPaused: true };
    case "resumed":
      return cut({
        ...tail,
        isPaused: false,
        events: [...tail.waiting, ...tail.events].toSorted(newestFirst),
        waiting: [],
      });
    case "restarted":
      return EMPTY;
  }
}

function cut(tail: Tail): Tail {
  const over = Math.max(0, tail.events.length - RING);
  return over === 0 ? tail : { ...tail, events: tail.events.slice(0, RING), dropped: tail.dropped + over };
}
