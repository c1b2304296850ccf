import { Html } from "../../../base/messages/html.ts";

export interface PageLimits {
  /** The length from which a page accepts no further entry. */
  readonly length: number;
  readonly entries: number;
}

/** A page that a browser of a phone opens at once. */
export const PAGE_LIMITS: PageLimits = { length: 1_000_000, entries: 500 };

/** What the overview says about a page. */
export interface PageFacts {
  readonly file: string;
  readonly number: number;
  readonly entries: number;
  /** Times of the first and of the last entry. */
  readonly from: string;
  readonly to: string;
  readonly isLast: boolean;
}

export interface WrittenPage {
  readonly file: string;
  readonly text: string;
  readonly rows: number;
}

/** Makes the text of a page. */
export type WritePage = (page: PageFacts, content: Html) => string;

/**
 * A list that can be longer than a page. Its first page stays in memory, because it is a part of the overview; the
 * others are files.
 */
export class Section {
  readonly #name: string;
  readonly #write: WritePage;
  readonly #limits: PageLimits;
  #entries: string[] = [];
  #length = 0;
  #from = "";
  #to = "";
  #number = 1;
  /** The number of entries of all pages. */
  count = 0;
  first = new Html("");
  /** The pages after the first. */
  readonly pages: PageFacts[] = [];

  constructor(name: string, write: WritePage, limits: PageLimits) {
    this.#name = name;
    this.#write = write;
    this.#limits = limits;
  }

  /** Whether the page that entries are added to has none. */
  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** The number of the page that entries are added to. */
  get page(): number {
    return this.#number;
  }

  get isFull(): boolean {
    return this.#entries.length >= this.#limits.entries || this.#length >= this.#limits.length;
  }

  /** @param at the time of the entry. */
  add(entry: Html, at: string): void {
    if (this.#entries.length === 0) this.#from = at;
    this.#to = at;
    this.#entries.push(entry.text);
    this.#length += entry.text.length;
    this.count++;
  }

  /** Ends the page that entries are added to. @returns its file, unless it is the first page. */
  endPage(isLast: boolean): readonly WrittenPage[] {
    const content = new Html(this.#entries.join(""));
    const number = this.#number++;
    const rows = this.#entries.length;
    this.#entries = [];
    this.#length = 0;
    if (number === 1) {
      this.first = content;
      return [];
    }
    const file = `pages/${this.#name}-${number}.html`;
    const facts = { file, number, entries: rows, from: this.#from, to: this.#to, isLast };
    this.pages.push(facts);
    return [{ file, rows, text: this.#write(facts, content) }];
  }
}
