import { byteLength } from "./byte-length.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type OutboxEntry, readEntry, writeEntry } from "./outbox-entry.ts";
import type { OutboxStorage } from "./outbox-storage.ts";
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
}

/**
 * The entries of an outbox in its storage: an item each, in one of a fixed number of places. There is no index that
 * could say something else than the items, and no entry is touched when another is written. Memory mirrors the storage
 * once it was read; operations follow each other.
 */
export function openShelf({ storage, name, maxEvents, maxBytes }: ShelfOptions) {
  const places = Array.from({ length: MOST_EVENTS }, (_, index) => `${name}.${index}`);
  const aside = `${name}.aside`;
  const entries = new Map<string, ShelvedEntry>();
  const exclusively = oneAtATime();
  let isRead = false;

  /** Returns how many entries were corrupt. Rejected when the storage can't be read: then nothing may be written. */
  async function read(): Promise<number> {
    if (isRead) return 0;
    const items = await Promise.all(places.map(async (place) => [place, await storage.getItem(place)] as const));
    const found: ShelvedEntry[] = [];
    let corrupt = 0;
    for (const [place, text] of items) {
      if (!text) continue;
      const entry = readEntry(text);
      if (entry) found.push({ ...entry, place, bytes: byteLength(text) });
      else {
        corrupt++;
        await setAside(place, text);
      }
    }
    found.sort((a, b) => a.request.expiresAt - b.request.expiresAt);
    for (const entry of found) entries.set(entry.request.key, entry);
    isRead = true;
    return corrupt;
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
    const text = writeEntry({ request, rounds: 0 });
    const bytes = byteLength(text);
    const held = [...entries.values()];
    const heldBytes = held.reduce((sum, entry) => sum + entry.bytes, 0);
    if (held.length >= maxEvents || heldBytes + bytes > maxBytes) return undefined;
    for (const place of places) {
      // Looked at once more: what an outbox doesn't know of is not its to overwrite.
      if (held.some((entry) => entry.place === place) || (await storage.getItem(place))) continue;
      await storage.setItem(place, text);
      const entry = { request, rounds: 0, place, bytes };
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

  /** A failure is let go: the item then has its last text, and is sent once more after the next start at worst. */
  const change = (entry: ShelvedEntry, next?: ShelvedEntry): Promise<void> =>
    exclusively(() => replace(entry, next)).catch(() => undefined);

  return {
    /** All entries as they are at this moment, in the order in which they are to be tried. */
    list: (): ShelvedEntry[] => [...entries.values()],
    find: ({ key }: SignalRequest): ShelvedEntry | undefined => entries.get(key),
    read: () => exclusively(read),
    /** Durable when it returns; `undefined` where there is no room. */
    add: (request: SignalRequest) => exclusively(() => add(request)),
    remove: (entry: ShelvedEntry) => change(entry),
    /** Counts a round and moves the entry behind the others, so that one event can't keep the rest waiting. */
    postpone: (entry: ShelvedEntry) => change(entry, { ...entry, rounds: entry.rounds + 1 }),
    clear: () =>
      exclusively(async () => {
        for (const item of [...places, aside]) await storage.removeItem(item);
        entries.clear();
        isRead = true;
      }),
  };
}
