import type { Bounds } from "./bounded.ts";
import type { HostAbortSignal } from "./host-globals.ts";
import { functionProblems, problemsOfWholeNumbers, throwMisuse, textProblem, withDefaults } from "./misuse.ts";
import { MAX_ROUNDS } from "./outbox-entry.ts";
import { createCancellationScope } from "./cancellation-scope.ts";
import { MAX_EVENTS, openShelf, type ShelvedEntry } from "./outbox-shelf.ts";
import { inTime, type OutboxStorage } from "./outbox-storage.ts";
import type { LaterReason, RefusedReason, RequestError, SendResult } from "./send-result.ts";
import type { Sending, SignalClient } from "./signal-client.ts";
import { type Action, isExpired, type SignalRequest } from "./signal-request.ts";

/**
 * The outbox does not count a round that ends for one of these reasons, because the reason has nothing to do with the
 * event.
 */
const UNCOUNTED = /^(aborted|signed-out|no-token)$/;

export type DroppedReason =
  | RefusedReason
  /** 500 calls of the client's `deliver` gave no final result, and by the device's clock the event has not expired. */
  | "exhausted"
  /** An item in the storage was no entry. The outbox moves it to the item `<name>.aside`, if the storage allows it. */
  | "corrupt";

/** An event that the outbox removed, although the server may not have stored it. The object may be logged. */
export interface Dropped {
  readonly reason: DroppedReason;
  /** The event's action. A corrupt entry has neither action nor key. */
  readonly action?: Action;
  readonly key?: string;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly errors: readonly RequestError[];
}

export interface OutboxOptions {
  readonly client: SignalClient;
  readonly storage: OutboxStorage;
  /** Called for each event that the outbox gives up, so that no event is lost silently. */
  readonly onDropped: (dropped: Dropped) => void;
  /**
   * Prefix of the item names. Use a different one for each account, because events are sent with the session of the
   * signed-in user.
   */
  readonly name?: string | undefined;
  /** Maximum number of events: 1 to 100. Default 50. */
  readonly maxEvents?: number | undefined;
  /** Maximum size of all items together, in bytes of UTF-8. Default 1,000,000. */
  readonly maxBytes?: number | undefined;
}

/** The result of one event. `queued` says whether the event is in the outbox now, for a later `flush`. */
export type OutboxResult = SendResult & { readonly queued: boolean };

export interface FlushReport {
  readonly stored: number;
  readonly replayed: number;
  /** Number of events that the outbox gave up during the flush; `onDropped` was called for each. */
  readonly dropped: number;
  /** Number of events that are still in the outbox. */
  readonly left: number;
  /** Why the flush stopped before the end. `storage` means that the storage could not be read. */
  readonly stopped?: LaterReason | "storage" | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface Outbox {
  /**
   * Writes the event into the storage, then sends it as the client's `send` does. An event with the outcome `later`
   * stays in the outbox, unless it is `exhausted`. If the outbox is full or the storage fails, the event is sent
   * nevertheless, but not kept.
   */
  send(sending: Sending): Promise<OutboxResult>;
  /**
   * Sends the kept events, one after the other, until an event has to wait. Call it at the start of the app, after a
   * sign-in and when the network is back. A call during a running flush returns the report of that flush; the signal of
   * the call has no effect.
   */
  flush(options?: { readonly signal?: HostAbortSignal | undefined }): Promise<FlushReport>;
  /**
   * Removes every event without a report, and ends sends in progress with the reason `aborted`. Call it at a sign-out.
   * Rejects if the storage fails.
   */
  clear(): Promise<void>;
}

/**
 * Keeps each event, with its idempotency key and exact bytes, until it has a final result, also across restarts of the
 * app. A new event never displaces a kept one. Use one outbox for a storage and name at a time.
 *
 * @throws TypeError naming every problem of the options.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const settings = withDefaults(options, { name: "device-risk-signals", maxEvents: 50, maxBytes: 1_000_000 });
  const { client, storage, onDropped } = settings;
  throwMisuse("createOutbox", [
    ...functionProblems(client, ["prepare", "deliver"]),
    ...functionProblems(storage, ["getItem", "setItem", "removeItem"]),
    ...functionProblems(settings, ["onDropped"]),
    textProblem("name", settings.name, 200),
    ...problemsOfWholeNumbers(settings, ["maxEvents"], MAX_EVENTS),
    ...problemsOfWholeNumbers(settings, ["maxBytes"]),
  ]);
  const shelf = openShelf({ ...settings, onCorrupt: () => drop({ reason: "corrupt", errors: [] }) });
  const scope = createCancellationScope();
  const inProgress = new Map<string, Promise<SendResult>>();
  let flushing: Promise<FlushReport> | undefined;
  let dropCount = 0;

  /** Ignores errors of the host's function, so that they do not affect other events. */
  function drop(dropped: Dropped): void {
    dropCount++;
    (async () => onDropped(dropped))().catch(() => undefined);
  }

  /** A call during another send of the same event gets the result of that send. */
  function deliverOnce(entry: ShelvedEntry, signal?: HostAbortSignal): Promise<SendResult> {
    const { key } = entry.request;
    const running = inProgress.get(key);
    if (running) return running;
    const result = deliver(entry, signal).finally(() => inProgress.delete(key));
    inProgress.set(key, result);
    return result;
  }

  async function deliver(entry: ShelvedEntry, signal?: HostAbortSignal): Promise<SendResult> {
    const { action, key } = entry.request;
    const result = await client.deliver(entry.request, { signal });
    const isLater = result.outcome === "later";
    if (isLater && UNCOUNTED.test(result.reason)) return result;
    const rounds = entry.rounds + 1;
    const nextEntry = isLater && rounds < MAX_ROUNDS ? { ...entry, rounds } : undefined;
    await shelf.replace(entry, nextEntry);
    if ("reason" in result && !nextEntry) {
      const { status, code } = result;
      const { reason, errors } = isLater ? ({ reason: "exhausted", errors: [] } as const) : result;
      drop({ reason, errors, status, code, action, key });
    }
    return result;
  }

  /** Writes an event into the storage. Returns `undefined` if the outbox is full. Rejects if the storage fails. */
  async function keep(request: SignalRequest, bounds: Bounds): Promise<ShelvedEntry | undefined> {
    await shelf.read();
    for (const entry of shelf.entries.values()) {
      // Delivers expired events, for which the client sends no request, to free their places. Does not wait for an
      // event whose send is in progress.
      if (isExpired(entry.request) && !inProgress.has(entry.request.key)) await deliverOnce(entry);
    }
    return bounds.isOver() ? undefined : shelf.add(request);
  }

  async function flush(callerSignal: HostAbortSignal | undefined): Promise<FlushReport> {
    const signal = scope.join(callerSignal);
    const dropsBefore = dropCount;
    const count = { stored: 0, replayed: 0 };
    const report = (stopped?: FlushReport["stopped"], retryAfterMs?: number): FlushReport => ({
      ...count,
      dropped: dropCount - dropsBefore,
      left: shelf.entries.size,
      stopped,
      retryAfterMs,
    });
    try {
      await inTime(shelf.read, signal);
    } catch {
      return report(signal.aborted ? "aborted" : "storage");
    }
    // Copies the keys, because an entry that has to wait moves to the end of the map.
    const keys = [...shelf.entries.keys()];
    for (const key of keys) {
      const entry = shelf.entries.get(key);
      if (!entry) continue;
      const result = await deliverOnce(entry, signal);
      if (result.outcome === "later") return report(result.reason, result.retryAfterMs);
      if (result.outcome !== "refused") count[result.outcome]++;
    }
    return report();
  }

  return {
    async send({ action, event, signal: callerSignal }) {
      const signal = scope.join(callerSignal);
      const request = client.prepare({ action, event });
      const entry = await inTime((bounds) => keep(request, bounds), signal).catch(() => undefined);
      const result = await (entry ? deliverOnce(entry, signal) : client.deliver(request, { signal }));
      return { ...result, queued: shelf.entries.has(request.key) };
    },
    flush({ signal } = {}) {
      flushing ??= flush(signal).finally(() => (flushing = undefined));
      return flushing;
    },
    async clear() {
      scope.end();
      await inTime(shelf.clear);
    },
  };
}
