/** The rows of tables, from the lines of files. */
import { type Html, markup } from "../../../base/messages/html.ts";
import { row } from "./page.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";
import { code, date, shown, time, value } from "./words.ts";

/** A list of the overview that is a table. */
export const TABLES = ["recipients", "features", "accesses", "requests", "restrictions"] as const;
export type TableName = (typeof TABLES)[number];

export interface AccessLine {
  readonly at: string;
  readonly operation: string;
  readonly outcome: string;
  readonly event_id: string | null;
  readonly occurrences: number;
  readonly reason: string | null;
}

export interface FeatureLine {
  readonly event_id: string;
  readonly received_at: string;
  readonly purpose: string;
  readonly unreadable?: true;
  readonly feature?: string;
  readonly meaning?: string;
  readonly state?: string;
  readonly value?: unknown;
  readonly extracted_at?: string;
}

export interface RecipientLine {
  readonly kind: string;
  readonly purpose: string | null;
  readonly recipient: string;
  readonly exported_at: string;
  readonly expires_on: string;
  readonly rows: number;
}

export interface RequestLine {
  readonly kind: string;
  readonly received_at: string;
  readonly due_at: string;
  readonly outcome: string | null;
  readonly ground: string | null;
}

export interface RestrictionLine {
  readonly article: number;
  readonly purpose: string | null;
  readonly reason: string;
  readonly placed_at: string;
  readonly lifted_at: string | null;
}

export function labelsOf(texts: Texts, name: TableName): readonly string[] {
  const { recipients, features, accesses, requests, restrictions } = texts;
  switch (name) {
    case "recipients": {
      const { at, recipient, what, purpose, until, rows } = recipients;
      return [at, recipient, what, purpose, until, rows];
    }
    case "features":
      return [features.event, features.name, features.result, features.computed];
    case "accesses":
      return [accesses.at, accesses.what, accesses.result, accesses.reason, accesses.event];
    case "requests":
      return [requests.at, requests.kind, requests.due, requests.end];
    case "restrictions":
      return [restrictions.at, restrictions.kind, restrictions.purpose, restrictions.reason, restrictions.end];
  }
}

/** A word of a vocabulary, or `other` if the vocabulary lacks it, and its raw name if that is another word. */
export function wordOf(texts: Texts, words: Readonly<Record<string, string>>, raw: string, other = ""): Html {
  const word = (Object.hasOwn(words, raw) ? words[raw] : undefined) ?? other;
  return word === raw ? markup`${word}` : markup`${word} ${code(texts, raw)}`;
}

export const outcomeOf = (texts: Texts, outcome: string): Html =>
  wordOf(texts, texts.accesses.outcomes, outcome, texts.accesses.otherOutcome);

export function recipientRow(texts: Texts, line: RecipientLine): Html {
  const what = wordOf(texts, texts.recipients.kinds, line.kind);
  const purpose = line.purpose === null ? "" : code(texts, line.purpose);
  const until = date(texts, line.expires_on);
  const cells = [time(texts, line.exported_at), shown(texts, line.recipient), what, purpose, until, line.rows];
  return row(labelsOf(texts, "recipients"), cells);
}

export function featureRow(texts: Texts, line: FeatureLine): Html {
  const { states, unreadable } = texts.features;
  const { state = "", meaning = "", feature = "", extracted_at } = line;
  const result = state === "observed" ? value(texts, line.value) : wordOf(texts, states, state);
  const cells = [
    markup`${time(texts, line.received_at)} ${code(texts, line.event_id)}`,
    markup`${shown(texts, meaning)} ${code(texts, feature)}`,
    line.unreadable ? unreadable : result,
    extracted_at === undefined ? "" : time(texts, extracted_at),
  ];
  return row(labelsOf(texts, "features"), cells);
}

export function accessRow(texts: Texts, line: AccessLine): Html {
  const { operations, otherOperation, times } = texts.accesses;
  const repeated = line.occurrences > 1 ? markup` (${fill(times, { count: line.occurrences })})` : "";
  const cells = [
    time(texts, line.at),
    wordOf(texts, operations, line.operation, otherOperation),
    markup`${outcomeOf(texts, line.outcome)}${repeated}`,
    shown(texts, line.reason ?? ""),
    line.event_id === null ? "" : code(texts, line.event_id),
  ];
  return row(labelsOf(texts, "accesses"), cells);
}

export function requestRow(texts: Texts, line: RequestLine): Html {
  const { kinds, outcomes, open } = texts.requests;
  const end =
    line.outcome === null ? open : markup`${wordOf(texts, outcomes, line.outcome)} ${shown(texts, line.ground ?? "")}`;
  const cells = [time(texts, line.received_at), wordOf(texts, kinds, line.kind), time(texts, line.due_at), end];
  return row(labelsOf(texts, "requests"), cells);
}

export function restrictionRow(texts: Texts, line: RestrictionLine): Html {
  const { articles, all, active } = texts.restrictions;
  const cells = [
    time(texts, line.placed_at),
    wordOf(texts, articles, String(line.article)),
    line.purpose === null ? all : code(texts, line.purpose),
    shown(texts, line.reason),
    line.lifted_at === null ? active : time(texts, line.lifted_at),
  ];
  return row(labelsOf(texts, "restrictions"), cells);
}
