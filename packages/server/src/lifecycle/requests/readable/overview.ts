/** The overview: what a person asks first, and the first page of each list. */
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { AccountExport } from "@device-risk-signals/admin-api";
import { type Html, markup } from "../../../base/messages/html.ts";
import { describe } from "./event-entry.ts";
import { facts, row, table } from "./page.ts";
import type { Section } from "./section.ts";
import { labelsOf, outcomeOf, type TableName } from "./table-rows.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";
import { code, fillMarkup, period, shown, time } from "./words.ts";

/** A line of `purposes.ndjson`. */
export interface PurposeLine {
  readonly purpose: string;
  readonly title: string;
  readonly legal_basis: string | null;
  readonly owner: string | null;
  readonly raw_retention: string | null;
  readonly derived_retention: string | null;
  readonly retired_at: string | null;
}

/** Counts by a text. */
export class Tally {
  readonly counts = new Map<string, number>();
  isFull = false;
  readonly #limit: number;

  /** @param limit the number of different texts that are counted. */
  constructor(limit = Infinity) {
    this.#limit = limit;
  }

  add(text: string, times = 1): void {
    const before = this.counts.get(text);
    if (before === undefined && this.counts.size >= this.#limit) this.isFull = true;
    else this.counts.set(text, (before ?? 0) + times);
  }
}

/** What is known of the account when all lines have been read. */
export interface Collected {
  readonly purposes: ReadonlyMap<string, PurposeLine>;
  readonly sections: Readonly<Record<SectionName, Section>>;
  readonly eventsOf: Tally;
  readonly valuesOf: Tally;
  readonly occasions: Tally;
  readonly devices: Tally;
  readonly groups: Tally;
  /** Fields of high sensitivity, as `probe.field`. */
  readonly sensitive: Tally;
  /** Events that the app sent, by the result. */
  readonly receipts: Tally;
  readonly unreadable: number;
  readonly newest: string | undefined;
  readonly oldest: string | undefined;
}

export type SectionName = "events" | TableName;

export const withTable = (texts: Texts, name: SectionName, content: Html): Html =>
  name === "events" ? content : table(labelsOf(texts, name), content);

export function overview(texts: Texts, manifest: AccountExport, of: Collected): Html {
  const { purposes, recipients, rights, groups, events, states, features, accesses, requests, restrictions, files } =
    texts;
  const parts: readonly (readonly [heading: string, content: Html])[] = [
    [texts.summary.heading, summary(texts, manifest, of)],
    [purposes.heading, purposesTable(texts, of)],
    [recipients.heading, list(texts, of, "recipients")],
    [rights.heading, rightsList(texts)],
    [groups.heading, groupsTable(texts, of)],
    [states.heading, statesList(texts)],
    [events.heading, list(texts, of, "events")],
    [features.heading, list(texts, of, "features")],
    [accesses.heading, markup`${list(texts, of, "accesses")}${receipts(texts, of)}`],
    [requests.heading, list(texts, of, "requests")],
    [restrictions.heading, list(texts, of, "restrictions")],
    [files.heading, filesTable(texts, manifest)],
  ];
  const { title, intro, times, meanings, contents } = texts;
  const before = [intro, times, meanings].filter((text) => text !== "").map((text) => markup`<p>${text}</p>`);
  const links = parts.map(([heading], index) => markup`<li><a href="#s${index}">${heading}</a>`);
  const sections = parts.map(([heading, content], index) => markup`<h2 id="s${index}">${heading}</h2>${content}\n`);
  return markup`<h1>${title}</h1>${before}<nav><b>${contents}</b><ul>${links}</ul></nav>\n${sections}`;
}

function summary(texts: Texts, { account, export_id, exported_at, refused }: AccountExport, of: Collected): Html {
  const { summary: words } = texts;
  const { events, recipients, accesses } = of.sections;
  return markup`${facts([
    [words.account, shown(texts, account)],
    [words.exportedAt, time(texts, exported_at)],
    [words.events, events.count],
    ...(of.oldest === undefined ? [] : [[words.first, time(texts, of.oldest)] as const]),
    ...(of.newest === undefined ? [] : [[words.last, time(texts, of.newest)] as const]),
    [words.occasions, tally(texts, of.occasions)],
    [words.devices, tally(texts, of.devices)],
    ...(of.unreadable > 0 ? [[words.unreadable, of.unreadable] as const] : []),
    [words.handedOut, recipients.count],
    [words.accesses, accesses.count],
    [words.exportId, code(texts, export_id)],
  ])}<p>${words.eventIs} ${words.verdict}</p>${refused ? markup`<p>${texts.refused}</p>` : ""}`;
}

function tally(texts: Texts, { counts, isFull }: Tally): Html {
  if (counts.size === 0) return markup`${texts.summary.none}`;
  const items = [...counts].map(([text, count]) => markup`<li>${shown(texts, text)}: ${count}`);
  return markup`<ul>${items}${isFull ? markup`<li>${texts.summary.others}` : ""}</ul>`;
}

function purposesTable(texts: Texts, { purposes, eventsOf, valuesOf }: Collected): Html {
  const { intro, name, basis, owner, raw, derived, events, retired, none, holds } = texts.purposes;
  const own = [...purposes.values()].filter(({ purpose: id }) => eventsOf.counts.has(id) || valuesOf.counts.has(id));
  if (own.length === 0) return markup`<p>${none}</p>`;
  const each = own.map((purpose) => {
    const end = purpose.retired_at === null ? "" : markup`<br>${retired}`;
    return markup`<h3>${shown(texts, purpose.title)}</h3>${facts([
      [basis, shown(texts, purpose.legal_basis ?? "")],
      [owner, shown(texts, purpose.owner ?? "")],
      [raw, period(texts, purpose.raw_retention)],
      [derived, period(texts, purpose.derived_retention)],
      [events, eventsOf.counts.get(purpose.purpose) ?? 0],
      [name, markup`${code(texts, purpose.purpose)}${end}`],
    ])}`;
  });
  return markup`<p>${intro}</p>${each}<p>${holds}</p>`;
}

function rightsList(texts: Texts): Html {
  const { intro, list: rights, source, letter } = texts.rights;
  return markup`<p>${intro}</p><ul>${rights.map((right) => markup`<li>${right}`)}</ul><p>${source} ${letter}</p>`;
}

function groupsTable(texts: Texts, collected: Collected): Html {
  const { groups, sections } = collected;
  const { intro, name, about, events, of } = texts.groups;
  const labels = [name, about, events];
  const total = sections.events.count;
  const rows = CATALOG.filter(({ id }) => groups.counts.has(id)).map(({ id }) => {
    const count = fill(of, { count: groups.counts.get(id) ?? 0, total });
    const [title, about] = describe(texts, id);
    return row(labels, [markup`<b>${title}</b> ${code(texts, id)}`, about, count]);
  });
  return markup`<p>${intro}</p>${table(labels, rows)}${sensitiveFieldsTable(texts, collected)}`;
}

function sensitiveFieldsTable(texts: Texts, { sensitive, sections }: Collected): Html {
  const { sensitive: intro, noneSensitive, field: observation, events, of } = texts.groups;
  if (sensitive.counts.size === 0) return markup`<p>${noneSensitive}</p>`;
  const labels = [observation, events];
  const total = sections.events.count;
  const rows = CATALOG.flatMap(({ id, fields }) =>
    Object.entries(fields).flatMap(([name, { meaning }]) => {
      const count = sensitive.counts.get(`${id}.${name}`);
      if (count === undefined) return [];
      const what = markup`<span lang="en">${meaning}</span> ${code(texts, name)}`;
      return [row(labels, [what, fill(of, { count, total })])];
    }),
  );
  return markup`<p>${intro}</p>${table(labels, rows)}`;
}

function statesList({ states }: Texts): Html {
  return markup`${facts(Object.values(states.list))}<h3>${states.technical}</h3>${facts(states.glossary)}`;
}

function list(texts: Texts, { sections }: Collected, name: SectionName): Html {
  const { none, intro = "" }: { readonly none: string; readonly intro?: string } = texts[name];
  const { count, first, pages } = sections[name];
  if (count === 0) return markup`<p>${none}</p>`;
  const links = pages.map(({ file, number, entries, from, to }) => {
    const span = { from: time(texts, from), to: time(texts, to) };
    return markup`<li><a href="${file}">${fillMarkup(texts.pages.part, { number, count: entries, ...span })}</a>`;
  });
  const more = links.length > 0 ? markup`<p><b>${texts.pages.more}</b></p><ul>${links}</ul>` : "";
  return markup`${intro ? markup`<p>${intro}</p>` : ""}${withTable(texts, name, first)}${more}`;
}

function receipts(texts: Texts, { receipts: of }: Collected): Html | string {
  if (of.counts.size === 0) return "";
  const items = [...of.counts].map(([outcome, count]) => markup`<li>${outcomeOf(texts, outcome)}: ${count}`);
  return markup`<p>${texts.accesses.receipts}</p><ul>${items}</ul>`;
}

function filesTable(texts: Texts, { files: all }: AccountExport): Html {
  const { intro, name, about, rows, list: known, events, manifest } = texts.files;
  const labels = [name, about, rows];
  const words: Readonly<Record<string, string>> = known;
  const listed = all.map((file) =>
    row(labels, [markup`<a href="${file.name}">${file.name}</a>`, words[file.name] ?? "", file.rows]),
  );
  return markup`<p>${intro}</p>${table(labels, [
    row(labels, [markup`<code>events/</code>`, events, ""]),
    ...listed,
    row(labels, [markup`<a href="manifest.json">manifest.json</a>`, manifest, ""]),
  ])}`;
}
