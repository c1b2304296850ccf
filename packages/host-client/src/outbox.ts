import type { HostAbortSignal } from "./host-globals.ts";
import { functionProblems, numberProblems, refuseMisuse, textProblem, withDefaults } from "./misuse.ts";
import { MOST_EVENTS, openShelf, type ShelvedEntry } from "./outbox-shelf.ts";
import type { OutboxStorage } from "./outbox-storage.ts";
import type { LaterReason, RefusedReason, RequestError, SendResult } from "./send-result.ts";
import type { Sending, SignalClient } from "./signal-client.ts";
import type { Action, SignalRequest } from "./signal-request.ts";

/** Rounds in which the server was asked about one event, over all starts: the bound where the clock lies. */
const MOST_ROUNDS = 500;

/** Reasons that say nothing of the server: such a round is not counted. */
const UNASKED: ReadonlySet<LaterReason> = new Set(["aborted", "signed-out", "no-token"]);

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
  /** Removes everything, unreported: for a sign-out that shall leave nothing. Rejected when the storage fails. */
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
    ...functionProblems(client, ["prepare", "deliver"], "client."),
    ...functionProblems(storage, ["getItem", "setItem", "removeItem"], "storage."),
    ...functionProblems(settings, ["onDropped"]),
    textProblem("name", settings.name, 200),
    ...numberProblems(settings, ["maxEvents"], MOST_EVENTS),
    ...numberProblems(settings, ["maxBytes"]),
  ]);
  const shelf = openShelf(settings);
  const underWay = new Map<string, Promise<SendResult>>();
  let flushing: Promise<FlushReport> | undefined;
  let drops = 0;

  function drop(dropped: Dropped): void {
    drops++;
    onDropped(dropped);
  }

  /** Reads the storage once. Returns whether it could be read: otherwise nothing may be written, over what is there. */
  async function open(): Promise<boolean> {
    const corrupt = await shelf.read().catch(() => undefined);
    for (let n = 0; n < (corrupt ?? 0); n++) drop({ reason: "corrupt", errors: [] });
    return corrupt !== undefined;
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
    if (result.outcome === "later") {
      if (UNASKED.has(result.reason)) return result;
      if (entry.rounds + 1 < MOST_ROUNDS) {
        await shelf.postpone(entry);
        return result;
      }
    }
    await shelf.remove(entry);
    if ("reason" in result) {
      const { status, code } = result;
      const why = result.outcome === "later" ? ({ reason: "exhausted", errors: [] } as const) : result;
      drop({ reason: why.reason, errors: why.errors, status, code, action, key });
    }
    return result;
  }

  /** Durable when it returns; `undefined` where there is no room or the storage fails. */
  async function keep(request: SignalRequest): Promise<ShelvedEntry | undefined> {
    if (!(await open())) return undefined;
    for (const entry of shelf.list()) {
      // Makes room. Nobody is asked about an expired event: the client says so at once.
      if (Date.now() >= entry.request.expiresAt) await settle(entry);
    }
    return shelf.add(request).catch(() => undefined);
  }

  async function flush(signal: HostAbortSignal | undefined): Promise<FlushReport> {
    const before = drops;
    const count = { stored: 0, replayed: 0, refused: 0 };
    const report = (stopped?: FlushReport["stopped"], retryAfterMs?: number): FlushReport => ({
      stored: count.stored,
      replayed: count.replayed,
      dropped: drops - before,
      left: shelf.list().length,
      stopped,
      retryAfterMs,
    });
    if (!(await open())) return report("storage");
    for (const { request } of shelf.list()) {
      const entry = shelf.find(request);
      if (!entry) continue;
      const result = await settle(entry, signal);
      if (result.outcome === "later") return report(result.reason, result.retryAfterMs);
      count[result.outcome]++;
    }
    return report();
  }

  return {
    async send({ action, event, signal }) {
      const request = client.prepare({ action, event });
      const entry = await keep(request);
      const result = await (entry ? settle(entry, signal) : client.deliver(request, { signal }));
      return { ...result, queued: shelf.find(request) !== undefined };
    },
    flush({ signal } = {}) {
      flushing ??= flush(signal).finally(() => (flushing = undefined));
      return flushing;
    },
    clear: () => shelf.clear(),
  };
}
