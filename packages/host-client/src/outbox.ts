import type { Bounds } from "./bounded.ts";
import type { HostAbortSignal } from "./host-globals.ts";
import { functionProblems, numberProblems, refuseMisuse, textProblem, withDefaults } from "./misuse.ts";
import { MOST_ROUNDS } from "./outbox-entry.ts";
import { openGeneration } from "./outbox-generation.ts";
import { MOST_EVENTS, openShelf, type ShelvedEntry } from "./outbox-shelf.ts";
import { inTime, type OutboxStorage } from "./outbox-storage.ts";
import type { LaterReason, RefusedReason, RequestError, SendResult } from "./send-result.ts";
import type { Sending, SignalClient } from "./signal-client.ts";
import { type Action, isExpired, type SignalRequest } from "./signal-request.ts";

/** Reasons that say nothing of the server: such a round is not counted. */
const UNASKED = /^(aborted|signed-out|no-token)$/;

export type DroppedReason =
  | RefusedReason
  /** Tried too often; the device's clock never said that the freshness was over. */
  | "exhausted"
  /** What the storage returned is no entry. It was set aside, in the item `<name>.aside`. */
  | "corrupt";

/** An event that left the outbox without being known to be stored. May be logged. */
export interface Dropped {
  readonly reason: DroppedReason;
  /** Absent for a corrupt entry, as is the key. */
  readonly action?: Action;
  readonly key?: string;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly errors: readonly RequestError[];
}

export interface OutboxOptions {
  readonly client: SignalClient;
  readonly storage: OutboxStorage;
  /** Is told of each event that was given up, so that none is lost in silence. */
  readonly onDropped: (dropped: Dropped) => void;
  /** Begins the names of the items. One for each account: an event is sent with the session of whoever is signed in. */
  readonly name?: string | undefined;
  /** At most 100. Default 50. */
  readonly maxEvents?: number | undefined;
  /** Of all items together, in UTF-8. Default 1,000,000. */
  readonly maxBytes?: number | undefined;
}

/** The result of one event. `queued` says whether it is in the outbox now, for a `flush` to come. */
export type OutboxResult = SendResult & { readonly queued: boolean };

export interface FlushReport {
  readonly stored: number;
  readonly replayed: number;
  /** Events given up meanwhile; `onDropped` was told of each. */
  readonly dropped: number;
  /** Events that are still in the outbox. */
  readonly left: number;
  /** Why it stopped before the end. `storage`: the storage could not be read. */
  readonly stopped?: LaterReason | "storage" | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface Outbox {
  /**
   * Writes the event into the storage, then sends it as the client's `send` does. A settled event leaves the outbox, one
   * for later stays. Where there is no room or the storage fails, the event is sent nevertheless and not kept.
   */
  send(sending: Sending): Promise<OutboxResult>;
  /**
   * Sends what is kept, one event after the other, until one has to wait. Call it at the start, after a sign-in and
   * when the network is back. A call while one is under way returns the same report; its own signal has no effect.
   */
  flush(options?: { readonly signal?: HostAbortSignal | undefined }): Promise<FlushReport>;
  /**
   * Removes everything, unreported, and ends what is under way, as `aborted`: for a sign-out that shall leave nothing.
   * Rejected when the storage fails.
   */
  clear(): Promise<void>;
}

/**
 * Keeps events until they are settled, over restarts of the app, with their keys and exact bytes. What was accepted is
 * never pushed out by newer events. One outbox for a storage and name at a time.
 *
 * @throws TypeError naming every problem of the options.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const settings = withDefaults(options, { name: "device-risk-signals", maxEvents: 50, maxBytes: 1_000_000 });
  const { client, storage, onDropped } = settings;
  refuseMisuse("createOutbox", [
    ...functionProblems(client, ["prepare", "deliver"]),
    ...functionProblems(storage, ["getItem", "setItem", "removeItem"]),
    ...functionProblems(settings, ["onDropped"]),
    textProblem("name", settings.name, 200),
    ...numberProblems(settings, ["maxEvents"], MOST_EVENTS),
    ...numberProblems(settings, ["maxBytes"]),
  ]);
  const shelf = openShelf({ ...settings, onCorrupt: () => drop({ reason: "corrupt", errors: [] }) });
  const generation = openGeneration();
  const underWay = new Map<string, Promise<SendResult>>();
  let flushing: Promise<FlushReport> | undefined;
  let drops = 0;

  /** What the host's function throws, or rejects with, is let go: an event must not be lost for the loss of another. */
  function drop(dropped: Dropped): void {
    drops++;
    (async () => onDropped(dropped))().catch(() => undefined);
  }

  /** One event, asked about by one at a time: whoever comes meanwhile gets the same result. */
  function settle(entry: ShelvedEntry, signal?: HostAbortSignal): Promise<SendResult> {
    const { key } = entry.request;
    const known = underWay.get(key);
    if (known) return known;
    const result = deliver(entry, signal).finally(() => underWay.delete(key));
    underWay.set(key, result);
    return result;
  }

  async function deliver(entry: ShelvedEntry, signal?: HostAbortSignal): Promise<SendResult> {
    const { action, key } = entry.request;
    const result = await client.deliver(entry.request, { signal });
    const isLater = result.outcome === "later";
    if (isLater && UNASKED.test(result.reason)) return result;
    const rounds = entry.rounds + 1;
    const next = isLater && rounds < MOST_ROUNDS ? { ...entry, rounds } : undefined;
    await shelf.replace(entry, next);
    if ("reason" in result && !next) {
      const { status, code } = result;
      const { reason, errors } = isLater ? ({ reason: "exhausted", errors: [] } as const) : result;
      drop({ reason, errors, status, code, action, key });
    }
    return result;
  }

  /** Durable when it returns; `undefined` where there is no room. Rejected where the storage fails. */
  async function keep(request: SignalRequest, bounds: Bounds): Promise<ShelvedEntry | undefined> {
    await shelf.read();
    for (const entry of shelf.entries.values()) {
      // Makes room. Nobody is asked about an expired event: the client says so at once, but where it is under way.
      if (isExpired(entry.request) && !underWay.has(entry.request.key)) await settle(entry);
    }
    return bounds.isOver() ? undefined : shelf.add(request);
  }

  async function flush(callers: HostAbortSignal | undefined): Promise<FlushReport> {
    const signal = generation.join(callers);
    const before = drops;
    const count = { stored: 0, replayed: 0 };
    const report = (stopped?: FlushReport["stopped"], retryAfterMs?: number): FlushReport => ({
      ...count,
      dropped: drops - before,
      left: shelf.entries.size,
      stopped,
      retryAfterMs,
    });
    try {
      await inTime(shelf.read, signal);
    } catch {
      return report(signal.aborted ? "aborted" : "storage");
    }
    // As they are now: one that has to wait comes back at the end.
    const keys = [...shelf.entries.keys()];
    for (const key of keys) {
      const entry = shelf.entries.get(key);
      if (!entry) continue;
      const result = await settle(entry, signal);
      if (result.outcome === "later") return report(result.reason, result.retryAfterMs);
      if (result.outcome !== "refused") count[result.outcome]++;
    }
    return report();
  }

  return {
    async send({ action, event, signal: callers }) {
      const signal = generation.join(callers);
      const request = client.prepare({ action, event });
      const entry = await inTime((bounds) => keep(request, bounds), signal).catch(() => undefined);
      const result = await (entry ? settle(entry, signal) : client.deliver(request, { signal }));
      return { ...result, queued: shelf.entries.has(request.key) };
    },
    flush({ signal } = {}) {
      flushing ??= flush(signal).finally(() => (flushing = undefined));
      return flushing;
    },
    async clear() {
      generation.end();
      await inTime(shelf.clear);
    },
  };
}
