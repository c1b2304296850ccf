import { byteLength } from "./byte-length.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type OutboxEntry, readEntry, writeEntry } from "./outbox-entry.ts";
import { inTime, type OutboxStorage } from "./outbox-storage.ts";
import type { SignalRequest } from "./signal-request.ts";

/** The most events that an outbox can hold. All places are looked at, so a lowered `maxEvents` strands nothing. */
export const MOST_EVENTS = 100;

export interface ShelvedEntry extends OutboxEntry {
  /** The item of the storage that holds it. */
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
 * The entries of an outbox in its storage: an item each, in one of a fixed number of places. There is no index that
 * could say something else than the items, and no entry is touched when another is written. Memory mirrors the storage
 * once it was read; operations follow each other.
 */
export function openShelf({ storage, name, maxEvents, maxBytes, onCorrupt }: ShelfOptions) {
  const places = Array.from({ length: MOST_EVENTS }, (_, index) => `${name}.${index}`);
  const aside = `${name}.aside`;
  const entries = new Map<string, ShelvedEntry>();
  const exclusively = oneAtATime();
  let isRead = false;

  /** Rejected when the storage can't be read: then nothing may be written, over what is there. */
  async function read(): Promise<void> {
    if (isRead) return;
    const items = await Promise.all(places.map(async (place) => [place, await storage.getItem(place)] as const));
    const found: ShelvedEntry[] = [];
    for (const [place, text] of items) {
      if (!text) continue;
      const entry = readEntry(text);
      if (entry) found.push({ ...entry, place, bytes: byteLength(text) });
      else {
        onCorrupt();
        await setAside(place, text);
      }
    }
    found.sort((a, b) => a.request.expiresAt - b.request.expiresAt);
    for (const entry of found) entries.set(entry.request.key, entry);
    isRead = true;
  }

  /** Where that fails the item stays: its place is not written to. */
  async function setAside(place: string, text: string): Promise<void> {
    try {
      await storage.setItem(aside, text);
      await storage.removeItem(place);
    } catch {
      // Reported again at the next start.
    }
  }

  async function add(request: SignalRequest): Promise<ShelvedEntry | undefined> {
    const known = entries.get(request.key);
    if (known) return known;
    const fresh = { request, rounds: 0 };
    const text = writeEntry(fresh);
    const bytes = byteLength(text);
    const held = [...entries.values()];
    const heldBytes = held.reduce((sum, entry) => sum + entry.bytes, 0);
    if (held.length >= maxEvents || heldBytes + bytes > maxBytes) return undefined;
    for (const place of places) {
      // Looked at once more: what an outbox doesn't know of is not its to overwrite.
      if (held.some((entry) => entry.place === place) || (await storage.getItem(place))) continue;
      await storage.setItem(place, text);
      const entry = { ...fresh, place, bytes };
      entries.set(request.key, entry);
      return entry;
    }
    return undefined;
  }

  /** Puts the next entry, or nothing, in the place of one. One that was cleared meanwhile is left alone. */
  async function replace({ request, place }: ShelvedEntry, next?: ShelvedEntry): Promise<void> {
    if (entries.get(request.key)?.place !== place) return;
    entries.delete(request.key);
    if (!next) return void (await storage.removeItem(place));
    entries.set(request.key, next);
    await storage.setItem(place, writeEntry(next));
  }

  return {
    /** By key, in the order in which they are to be tried. */
    entries: entries as ReadonlyMap<string, ShelvedEntry>,
    read: () => exclusively(read),
    /** Durable when it returns; `undefined` where there is no room. */
    add: (request: SignalRequest) => exclusively(() => add(request)),
    /**
     * Removes the entry, or puts its next state behind the others, so that one event can't keep the rest waiting. A
     * failure is let go: the item then has its last text, and is sent once more after the next start at worst.
     */
    replace: (entry: ShelvedEntry, next?: ShelvedEntry): Promise<void> =>
      inTime(() => exclusively(() => replace(entry, next))).catch(() => undefined),
    /** Forgets at once, so that nobody sends what is being removed, and again what was read or added before its turn. */
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
