/** Times, periods and values as words of a language. The raw text is next to them. No text depends on the machine. */
import type { Unit } from "@device-risk-signals/contract/catalog/declare";
import { escapeControls } from "../../../base/messages/escape-controls.ts";
import { type Html, markup } from "../../../base/messages/html.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";

/** The number of UTF-16 code units of a text that a page shows. */
const MAX_TEXT = 300;
/** The number of items of a list that a page shows. */
const MAX_ITEMS = 40;

/**
 * A text of a client or an operator: at most 300 characters, isolated from the direction of the text around it. Control
 * and format characters are shown as escapes.
 */
export function shown(texts: Texts, text: string): Html {
  if (text === "") return markup``;
  const isCut = text.length > MAX_TEXT;
  // The cut does not divide a surrogate pair.
  const part = isCut ? text.slice(0, MAX_TEXT).replace(/[\uD800-\uDBFF]$/, "") : text;
  const rest = isCut ? markup` <i>${fill(texts.values.cut, { count: text.length })}</i>` : "";
  return markup`<bdi>${escapeControls(part)}</bdi>${rest}`;
}

export const code = (texts: Texts, text: string): Html => markup`<code>${shown(texts, text)}</code>`;

/** A time in UTC; a text that is no time unchanged. */
export function time(texts: Texts, text: string): Html {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return shown(texts, text);
  const iso = at.toISOString();
  const words = fill(texts.time, { date: dateOf(texts, at), clock: iso.slice(-13, -5) });
  return markup`<time datetime="${iso}">${words}</time>`;
}

/** Puts HTML into the places of a text. */
export function fillMarkup(text: string, values: Readonly<Record<string, Html | string | number>>): Html {
  const parts = text.split(/\{(\w+)\}/);
  return markup`${parts.map((part, index) => markup`${index % 2 === 0 ? part : (values[part] ?? "")}`)}`;
}

/** The date of a time; a text that is no time unchanged. */
export function date(texts: Texts, text: string): Html {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? shown(texts, text) : markup`${dateOf(texts, at)}`;
}

export function dateOf(texts: Texts, at: Date): string {
  const month = texts.month[at.getUTCMonth()] ?? "";
  return fill(texts.date, { day: at.getUTCDate(), month, year: at.getUTCFullYear() });
}

type PeriodUnit = keyof Texts["purposes"]["units"];

/** The words of an ISO 8601 duration, such as `P1Y6M`. */
export function period({ purposes: { units } }: Texts, duration: string): string {
  const [days = "", clock = ""] = duration.replace("P", "").split("T");
  const words = ([part, prefix]: readonly [string, string]): readonly string[] =>
    Array.from(part.matchAll(/(\d+)([A-Z])/g), ([, count, unit]) => {
      const [one, many] = units[`${prefix}${unit}` as PeriodUnit];
      return `${count} ${count === "1" ? one : many}`;
    });
  return [words([days, ""]), words([clock, "T"])].flat().join(" ");
}

/** A value of JSON, with its unit. */
export function value(texts: Texts, of: unknown, unit?: Unit): Html {
  const { yes, no, emptyText, emptyList, nothing, moreItems } = texts.values;
  if (typeof of === "boolean") return markup`${of ? yes : no} <code>${String(of)}</code>`;
  if (typeof of === "number") return quantity(texts, of, unit);
  if (typeof of === "string") return of === "" ? markup`<i>${emptyText}</i>` : markup`<q>${shown(texts, of)}</q>`;
  if (of === null) return markup`<i>${nothing}</i>`;
  if (!Array.isArray(of)) return code(texts, JSON.stringify(of));
  if (of.length === 0) return markup`<i>${emptyList}</i>`;
  const items = of.slice(0, MAX_ITEMS).map((item) => markup`<li>${value(texts, item, unit)}`);
  const more = of.length - items.length;
  return markup`<ul>${items}${more > 0 ? markup`<li><i>${fill(moreItems, { count: more })}</i>` : ""}</ul>`;
}

const MAX_TIME_MS = 8.64e15;
const MEGA = 1e6;
const BYTE_UNITS = [
  [1e12, "TB"],
  [1e9, "GB"],
  [MEGA, "MB"],
] as const;
const SPANS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

/** As many digits as a number of 32 bits has: 0.47 was stored as 0.4699999988079071. The file has the exact number. */
const DIGITS = 7;

const rounded = (texts: Texts, number: number): string =>
  (Number.isInteger(number) ? `${number}` : `${Number(number.toPrecision(DIGITS))}`).replace(".", texts.decimal);

function quantity(texts: Texts, number: number, unit: Unit = "none"): Html {
  const name = texts.values.units[unit];
  const digits = rounded(texts, number);
  const raw = name === "" ? digits : `${digits} ${name}`;
  const words = inWords(texts, number, unit);
  return words === undefined ? markup`${raw}` : markup`${words} <code>${raw}</code>`;
}

function inWords(texts: Texts, number: number, unit: Unit): Html | string | undefined {
  if (unit === "epoch ms" && number > 0 && number <= MAX_TIME_MS) return time(texts, new Date(number).toISOString());
  const inUnit = (scale: number): string => (number / scale).toFixed(1).replace(".", texts.decimal);
  if (unit === "bytes") {
    const [scale, name] = BYTE_UNITS.find(([scale]) => number >= scale) ?? [];
    return scale && `${inUnit(scale)} ${name}`;
  }
  if (unit !== "ms") return undefined;
  const [scale, name] = SPANS.find(([scale]) => number >= 2 * scale) ?? [];
  return scale && name && `${inUnit(scale)} ${texts.values.spans[name]}`;
}
