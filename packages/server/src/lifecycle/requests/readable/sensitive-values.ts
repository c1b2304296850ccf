/** The observations that say most about a person: their values, when, and where the pages show them. */
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { type Html, markup } from "../../../base/messages/html.ts";
import { describe, observationOf, sensitiveFields } from "./event-entry.ts";
import { linkTo, type Place } from "./links.ts";
import { row, table } from "./page.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";
import { code, date, fillMarkup, value } from "./words.ts";

/** The number of different values of a field that the overview shows. */
const MAX_VALUES = 10;

interface Seen {
  readonly shown: Html;
  readonly newest: { readonly at: string; readonly place: Place };
  oldest: string;
  events: number;
}

interface FieldValues {
  /** By the text of the value. Events come with the newest first. */
  readonly values: Map<string, Seen>;
  /** The number of events with other values. */
  others: number;
}

export class SensitiveValues {
  readonly #texts: Texts;
  readonly #fields = new Map<string, FieldValues>();

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  /** @param at when the event was received. */
  add(event: unknown, at: string, place: Place): void {
    for (const { id, name, of, unit } of sensitiveFields(event)) {
      const key = `${id}.${name}`;
      const field = this.#fields.get(key) ?? { values: new Map<string, Seen>(), others: 0 };
      this.#fields.set(key, field);
      const shown = value(this.#texts, of, unit);
      const seen = field.values.get(shown.text);
      if (seen) {
        seen.events++;
        seen.oldest = at;
      } else if (field.values.size < MAX_VALUES) {
        field.values.set(shown.text, { shown, newest: { at, place }, oldest: at, events: 1 });
      } else field.others++;
    }
  }

  /** In the order of the catalog. */
  table(): Html {
    const { sensitive, noneSensitive, field, result, when } = this.#texts.groups;
    if (this.#fields.size === 0) return markup`<p>${noneSensitive}</p>`;
    const labels = [field, result, when];
    const rows = CATALOG.flatMap(({ id, fields }) =>
      Object.keys(fields).flatMap((name) => this.#rowsOf(labels, id, name)),
    );
    return markup`<h3>${sensitive}</h3>${table(labels, rows)}`;
  }

  #rowsOf(labels: readonly string[], id: string, name: string): readonly Html[] {
    const texts = this.#texts;
    const found = this.#fields.get(`${id}.${name}`);
    if (!found) return [];
    const what = markup`${observationOf(texts, id, name) ?? ""} · ${describe(texts, id)[0]} ${code(texts, name)}`;
    const rows = Array.from(found.values.values(), (seen) => row(labels, [what, seen.shown, this.#when(seen)]));
    const { otherValues } = texts.groups;
    const others = row(labels, [what, fill(otherValues, { count: found.others }), ""]);
    return found.others > 0 ? [...rows, others] : rows;
  }

  #when({ newest, oldest, events }: Seen): Html {
    const { once, often } = this.#texts.groups;
    const event = linkTo(this.#texts, "", newest.place);
    const [from, to] = [date(this.#texts, oldest), date(this.#texts, newest.at)];
    return fillMarkup(events === 1 ? once : often, { event, from, to, count: events });
  }
}
