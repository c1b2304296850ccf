/** Links to events, from the overview and from its further pages. */
import { type Html, markup } from "../../../base/messages/html.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";

/** The path from a page to the folder of the export. */
export type Root = "" | "../";

/** The number of events that can be linked, which bounds the memory. Beyond it, the newest have links. */
const MAX_LINKED = 100_000;

/** Where a page shows an event. */
export interface Place {
  readonly number: number;
  readonly page: number;
}

/** The place of an event inside its entry, so that a browser opens the entry. */
export const anchorOf = (number: number): string => `i${number}`;

/** A link to a section of the overview. */
export const sectionHref = (root: Root, name: string): string => `${root === "" ? "" : "../index.html"}#${name}`;

/** A link to an event, by its number. */
export function linkTo(texts: Texts, root: Root, { number, page }: Place): Html {
  const other = page === 1 ? "../index.html" : `events-${page}.html`;
  const fromOverview = page === 1 ? "" : `pages/events-${page}.html`;
  const text = fill(texts.events.number, { number });
  return markup`<a href="${root === "" ? fromOverview : other}#${anchorOf(number)}">${text}</a>`;
}

export class Links {
  readonly #places = new Map<string, Place>();

  add(eventId: string, place: Place): void {
    if (this.#places.size < MAX_LINKED) this.#places.set(eventId, place);
  }

  /** @returns `undefined` if the export does not have the event. */
  toEvent(texts: Texts, root: Root, eventId: string): Html | undefined {
    const place = this.#places.get(eventId);
    return place && linkTo(texts, root, place);
  }
}
