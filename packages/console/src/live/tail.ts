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
  /** Whether events arrived that the page has never had: more at a time than an answer has, or while it was hidden. */
  readonly hasGap: boolean;
  readonly error: unknown;
  /** When the last answer came; milliseconds since the Unix epoch. */
  readonly at: number | undefined;
}

export interface Answered {
  readonly kind: "answered";
  /** Newest first. */
  readonly events: readonly Event[];
  /** The time from which the page asked for events. */
  readonly since: string;
  /** Whether the answer left out older events. */
  readonly more: boolean;
}

export type Change =
  | Answered
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

/** The newest event that the page has, shown or not. */
export const newestOf = ({ waiting, events }: Tail): Event | undefined => waiting[0] ?? events[0];

/** Whether an answer begins later than what the page has ends: its newest event, or its last answer. */
function leavesGap(tail: Tail, { events, since, more }: Answered): boolean {
  const newest = newestOf(tail)?.received_at;
  const oldest = more ? events.at(-1)?.received_at : undefined;
  if (newest === undefined || tail.at === undefined) return false;
  if (oldest !== undefined) return oldest > newest;
  // The clock of the page may be behind that of the server, which `newest` has.
  return since > newest && Date.parse(since) > tail.at;
}

export function changed(tail: Tail, change: Change): Tail {
  switch (change.kind) {
    case "answered": {
      const known = new Set([...tail.events, ...tail.waiting].map(({ event_id }) => event_id));
      const fresh = change.events.filter(({ event_id }) => !known.has(event_id));
      const answered = {
        ...tail,
        error: undefined,
        at: Date.now(),
        hasGap: tail.hasGap || leavesGap(tail, change),
      };
      if (fresh.length === 0) return answered;
      if (tail.isPaused) return cut({ ...answered, waiting: [...fresh, ...tail.waiting].toSorted(newestFirst) });
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

/** Keeps the newest of each list. */
function cut(tail: Tail): Tail {
  const [events, waiting] = [tail.events.slice(0, RING), tail.waiting.slice(0, RING)];
  const dropped = tail.events.length - events.length + tail.waiting.length - waiting.length;
  return { ...tail, events, waiting, dropped: tail.dropped + dropped };
}

const EVERY_MS = 1_000;
/** A server that answers slowly has other work. A page waits fifteen times as long as the answer took, up to this time. */
const LONG_PAUSE_MS = 10_000;
/** After a slower answer it waits five times as long as the answer took, up to this time. */
const LONGEST_PAUSE_MS = 60_000;

/** Milliseconds from an answer, which took `ms`, to the next question. */
export const pauseAfter = (ms: number): number =>
  Math.max(EVERY_MS - ms, Math.min(15 * ms, LONG_PAUSE_MS), Math.min(5 * ms, LONGEST_PAUSE_MS));
