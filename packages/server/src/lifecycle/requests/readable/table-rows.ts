/** The rows of tables, from the lines of files. */
import { type Html, markup } from "../../../base/messages/html.ts";
import { row } from "./page.ts";
import type { Links, Root } from "./links.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";
import { code, date, dateOf, period, shown, time, value } from "./words.ts";

/** A list of the overview that is a table. */
export const TABLES = ["recipients", "features", "accesses", "requests"] as const;
export type TableName = (typeof TABLES)[number];

export interface AccessLine {
  readonly at: string;
  readonly via: string;
  readonly roles: readonly string[];
  readonly operation: string;
  readonly outcome: string;
  readonly event_id: string | null;
  readonly occurrences: number;
  readonly reason: string | null;
}

export interface FeatureLine {
  readonly event_id: string;
  readonly received_at: string;
  readonly delete_on: string | null;
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
  readonly features: readonly string[] | null;
  readonly recipient: string;
  readonly exported_at: string;
  readonly expires_on: string;
  readonly rows: number;
}

export interface RequestLine {
  readonly request_id: string;
  readonly kind: string;
  readonly received_at: string;
  readonly due_at: string;
  readonly closed_at: string | null;
  readonly outcome: string | null;
  readonly ground: string | null;
  readonly identity: string | null;
}

export interface RestrictionLine {
  readonly article: number;
  readonly purpose: string | null;
  readonly reason: string;
  readonly placed_at: string;
  readonly request_id?: string | null;
  readonly lifted_at: string | null;
  readonly erased?: boolean;
}

/** How long a kind of record is kept; `null`: as the words for it say. */
export interface PeriodLine {
  readonly record: string;
  readonly period: string | null;
}

export function labelsOf(texts: Texts, name: TableName): readonly string[] {
  const { recipients, features, accesses, requests } = texts;
  switch (name) {
    case "recipients": {
      const { at, recipient, what, purpose, until, rows } = recipients;
      return [at, recipient, what, purpose, until, rows];
    }
    case "features":
      return [features.event, features.name, features.result, features.passedOn, features.until];
    case "accesses":
      return [accesses.at, accesses.who, accesses.what, accesses.result, accesses.reason, accesses.event];
    case "requests":
      return [requests.at, requests.kind, requests.about, requests.due, requests.end];
  }
}

/** A word of a vocabulary, or `other` if the vocabulary lacks it, and its raw name if that is another word. */
export function wordOf(texts: Texts, words: Readonly<Record<string, string>>, raw: string, other = ""): Html {
  const word = (Object.hasOwn(words, raw) ? words[raw] : undefined) ?? other;
  return word === raw ? markup`${word}` : markup`${word} ${code(texts, raw)}`;
}

export const outcomeOf = (texts: Texts, outcome: string): Html =>
  wordOf(texts, texts.accesses.outcomes, outcome, texts.accesses.otherOutcome);

/** A list of HTML, with a comma between its items. */
const joined = (items: readonly Html[]): Html =>
  markup`${items.map((item, index) => (index === 0 ? item : markup`, ${item}`))}`;

export function recipientRow(texts: Texts, line: RecipientLine): Html {
  const kind = wordOf(texts, texts.recipients.kinds, line.kind);
  const names = (line.features ?? []).map((name) => code(texts, name));
  const what = names.length === 0 ? kind : markup`${kind}: ${joined(names)}`;
  const purpose = line.purpose === null ? "" : code(texts, line.purpose);
  const until = date(texts, line.expires_on);
  const cells = [time(texts, line.exported_at), shown(texts, line.recipient), what, purpose, until, line.rows];
  return row(labelsOf(texts, "recipients"), cells);
}

/** @param recipients who received a value of this name, oldest first. */
export function featureRow(
  texts: Texts,
  line: FeatureLine,
  { links, root, recipients }: { links: Links; root: Root; recipients: readonly RecipientLine[] },
): Html {
  const { states, unreadable, computed, deleted } = texts.features;
  const { state = "", meaning = "", feature = "", extracted_at } = line;
  const result = state === "observed" ? value(texts, line.value) : wordOf(texts, states, state);
  const at = extracted_at === undefined ? "" : markup`<br><i>${computed} ${date(texts, extracted_at)}</i>`;
  const event = links.toEvent(texts, root, line.event_id) ?? deleted;
  const cells = [
    markup`${event}<br>${date(texts, line.received_at)}`,
    markup`${shown(texts, meaning)} ${code(texts, feature)}`,
    markup`${line.unreadable ? unreadable : result}${at}`,
    joined(
      recipients.map(({ recipient, exported_at }) => markup`${shown(texts, recipient)} (${date(texts, exported_at)})`),
    ),
    line.delete_on === null ? texts.purposes.noEnd : date(texts, line.delete_on),
  ];
  return row(labelsOf(texts, "features"), cells);
}

export function accessRow(texts: Texts, line: AccessLine, { links, root }: { links: Links; root: Root }): Html {
  const { operations, otherOperation, times } = texts.accesses;
  const repeated = line.occurrences > 1 ? markup` (${fill(times, { count: line.occurrences })})` : "";
  const id = line.event_id;
  const cells = [
    time(texts, line.at),
    who(texts, line),
    wordOf(texts, operations, line.operation, otherOperation),
    markup`${outcomeOf(texts, line.outcome)}${repeated}`,
    shown(texts, line.reason ?? ""),
    id === null ? "" : (links.toEvent(texts, root, id) ?? code(texts, id)),
  ];
  return row(labelsOf(texts, "accesses"), cells);
}

/** The roles of who acted, or how they reached the system. */
function who(texts: Texts, { via, roles }: AccessLine): Html {
  const { roles: words, ways, otherWay } = texts.accesses;
  if (roles.length > 0) return joined(roles.map((role) => wordOf(texts, words, role)));
  return wordOf(texts, ways, via, otherWay);
}

export function requestRow(texts: Texts, line: RequestLine): Html {
  const { kinds, outcomes, open } = texts.requests;
  const closed = line.closed_at === null ? "" : time(texts, line.closed_at);
  const end =
    line.outcome === null
      ? open
      : markup`${wordOf(texts, outcomes, line.outcome)} ${closed} ${shown(texts, line.ground ?? "")}`;
  const cells = [time(texts, line.received_at), wordOf(texts, kinds, line.kind), "", time(texts, line.due_at), end];
  return row(labelsOf(texts, "requests"), cells);
}

/** What a restriction or an objection is called. */
export function articleOf(texts: Texts, { article }: RestrictionLine): string {
  const articles: Readonly<Record<string, string>> = texts.requests.articles;
  return Object.hasOwn(articles, article) ? (articles[article] ?? "") : "";
}

/** An objection or a restriction, among the requests. @param request the one that it answers. */
export function restrictionRow(
  texts: Texts,
  line: RestrictionLine,
  titleOf: (purpose: string) => string,
  request: RequestLine | undefined,
): Html {
  const { all, active, ended, asked } = texts.requests;
  const after = request && fill(asked, { date: dateOf(texts, new Date(request.received_at)) });
  const about =
    line.purpose === null ? all : markup`${shown(texts, titleOf(line.purpose))} ${code(texts, line.purpose)}`;
  const state = line.lifted_at === null ? active : markup`${ended} ${time(texts, line.lifted_at)}`;
  const cells = [
    time(texts, line.placed_at),
    articleOf(texts, line),
    about,
    "",
    markup`${state}${after === undefined ? "" : markup`<br>${after}`}<br>${shown(texts, line.reason)}`,
  ];
  return row(labelsOf(texts, "requests"), cells);
}

/** How long records other than events and values are kept. */
export function periodRow(texts: Texts, labels: readonly string[], { record, period: length }: PeriodLine): Html {
  const { list } = texts.files;
  const { list: words, backups, inLetter } = texts.periods;
  const names: Readonly<Record<string, string>> = { ...list, backups };
  const ends: Readonly<Record<string, string>> = words;
  const end = Object.hasOwn(ends, record) ? (ends[record] ?? "") : "";
  const isOpen = length === null && end.includes("{period}");
  const kept = isOpen ? inLetter : fill(end, { period: length === null ? "" : period(texts, length) });
  return row(labels, [wordOf(texts, names, record), kept]);
}
