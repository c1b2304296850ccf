import { byteLength } from "./byte-length.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type OutboxEntry, readEntry, writeEntry } from "./outbox-entry.ts";
import { inTime, type OutboxStorage } from "./outbox-storage.ts";
import type { SignalRequest } from "./signal-request.ts";

/**
 * The number of places in the storage, and the largest `maxEvents`. The outbox reads all places, so a lowered
 * `maxEvents` loses no entry.
 */
export const MAX_EVENTS = 100;

export interface ShelvedEntry extends OutboxEntry {
  /** The name of the item in the storage. */
  readonly place: string;
  readonly bytes: number;
}

export interface ShelfOptions {
  readonly storage: OutboxStorage;
  readonly name: string;
  readonly maxEvents: number;
  readonly maxBytes: number;
  /** Called for each entry that was corrupt. Must not throw. */
  readonly onCorrupt: () => void;
}

/**
 * Keeps the entries of an outbox in its storage. Each entry is one item, in one of a fixed number of places. There is
 * no index that could contradict the items, and to write an entry changes no other entry. After the first read, the
 * entries are also in memory. Operations run one after the other.
 */
export function openShelf({ storage, name, maxEvents, maxBytes, onCorrupt }: ShelfOptions) {
  const places = Array.from({ length: MAX_EVENTS }, (_, index) => `${name}.${index}`);
  const aside = `${name}.aside`;
  const entries = new Map<string, ShelvedEntry>();
  const exclusively = oneAtATime();
  let isRead = false;

  /**
   * Rejects if the storage can't be read. Then the outbox must write no item, because it could replace an unread one.
   */
  async function read(): Promise<void> {
    if (isRead) return;
    const items = await Promise.all(places.map(async (place) => [place, await storage.getItem(place)] as const));
    const storedEntries: ShelvedEntry[] = [];
    for (const [place, text] of items) {
      if (!text) continue;
      const entry = readEntry(text);
      if (entry) storedEntries.push({ ...entry, place, bytes: byteLength(text) });
      else {
        onCorrupt();
        await setAside(place, text);
      }
    }
    storedEntries.sort((a, b) => a.request.expiresAt - b.request.expiresAt);
    for (const entry of storedEntries) entries.set(entry.request.key, entry);
    isRead = true;
  }

  /**
   * Moves an item that is no entry to `aside`. If this fails, the item stays, and the outbox writes nothing to its
   * place.
   */
  async function setAside(place: string, text: string): Promise<void> {
    try {
      await storage.setItem(aside, text);
      await storage.removeItem(place);
    } catch {
      // The next start reports the item again.
    }
  }

  async function add(request: SignalRequest): Promise<ShelvedEntry | undefined> {
    const existing = entries.get(request.key);
    if (existing) return existing;
    const fresh = { request, rounds: 0 };
    const text = writeEntry(fresh);
    const bytes = byteLength(text);
    const keptEntries = [...entries.values()];
    const keptBytes = keptEntries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (keptEntries.length >= maxEvents || keptBytes + bytes > maxBytes) return undefined;
    for (const place of places) {
      // Reads the place, because it may have an item that could not be moved aside. This item must not be overwritten.
      if (keptEntries.some((entry) => entry.place === place) || (await storage.getItem(place))) continue;
      await storage.setItem(place, text);
      const entry = { ...fresh, place, bytes };
      entries.set(request.key, entry);
      return entry;
    }
    return undefined;
  }

  /** Replaces or removes an entry, unless the entry was cleared in the meantime. */
  async function replace({ request, place }: ShelvedEntry, next?: ShelvedEntry): Promise<void> {
    if (entries.get(request.key)?.place !== place) return;
    entries.delete(request.key);
    if (!next) return void (await storage.removeItem(place));
    entries.set(request.key, next);
    await storage.setItem(place, writeEntry(next));
  }

  return {
    /** The entries by idempotency key, in the order in which the outbox sends them. */
    entries: entries as ReadonlyMap<string, ShelvedEntry>,
    read: () => exclusively(read),
    /** Writes an entry into the storage, unless the request has one. Returns `undefined` if the outbox is full. */
    add: (request: SignalRequest) => exclusively(() => add(request)),
    /**
     * Removes the entry or replaces it by `next`. The outbox sends `next` after all other entries, so that one event
     * can't keep the others waiting. A failure is ignored: the item keeps its old text, and at worst the event is sent
     * again after the next start.
     */
    replace: (entry: ShelvedEntry, next?: ShelvedEntry): Promise<void> =>
      inTime(() => exclusively(() => replace(entry, next))).catch(() => undefined),
    /**
     * Removes all items. Clears the entries in memory at once, so that no removed event is sent, and again after the
     * earlier operations, which may have added entries.
     */
    clear: () => {
      entries.clear();
      return exclusively(async () => {
        entries.clear();
        isRead = true;
        for (const item of [...places, aside]) await storage.removeItem(item);
      });
    },
  };
}
