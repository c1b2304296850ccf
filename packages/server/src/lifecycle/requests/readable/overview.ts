/** The overview: what a person asks first, and the first page of each list. */
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { StoredManifest } from "../account-export.ts";
import { type Html, markup } from "../../../base/messages/html.ts";
import { describe } from "./event-entry.ts";
import { facts, row, table } from "./page.ts";
import type { Section } from "./section.ts";
import type { SensitiveValues } from "./sensitive-values.ts";
import { labelsOf, outcomeOf, type PeriodLine, periodRow, type TableName } from "./table-rows.ts";
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
  readonly periods: readonly PeriodLine[];
  readonly sections: Readonly<Record<SectionName, Section>>;
  readonly eventsOf: Tally;
  readonly valuesOf: Tally;
  readonly occasions: Tally;
  readonly devices: Tally;
  readonly groups: Tally;
  readonly sensitive: SensitiveValues;
  /** Events that the app sent, by the result. */
  readonly receipts: Tally;
  readonly recipients: Tally;
  /** Readable events that do not say what the device is. */
  readonly undescribed: number;
  readonly unreadable: number;
  readonly newest: string | undefined;
  readonly oldest: string | undefined;
}

export type SectionName = "events" | TableName;

export const withTable = (texts: Texts, name: SectionName, content: Html): Html =>
  name === "events" ? content : table(labelsOf(texts, name), content);

export function overview(texts: Texts, manifest: StoredManifest, of: Collected): Html {
  const { purposes, recipients, rights, groups, events, states, features, accesses, requests, files } = texts;
  const parts: readonly (readonly [id: string, heading: string, content: Html])[] = [
    ["summary", texts.summary.heading, summary(texts, manifest, of)],
    ["purposes", purposes.heading, markup`${purposesTable(texts, of)}${periodsTable(texts, of)}`],
    ["recipients", recipients.heading, list(texts, of, "recipients")],
    ["rights", rights.heading, rightsList(texts)],
    ["requests", requests.heading, list(texts, of, "requests")],
    ["groups", groups.heading, markup`${groupsTable(texts, of)}${of.sensitive.table()}`],
    ["words", states.heading, statesList(texts)],
    ["events", events.heading, list(texts, of, "events")],
    ["features", features.heading, list(texts, of, "features")],
    ["accesses", accesses.heading, markup`${list(texts, of, "accesses")}${receipts(texts, of)}`],
    ["files", files.heading, filesTable(texts, manifest)],
  ];
  const { title, intro, times, meanings, contents, up } = texts;
  const before = [intro, times, meanings].filter((text) => text !== "").map((text) => markup`<p>${text}</p>`);
  const links = parts.map(([id, heading]) => markup`<li><a href="#${id}">${heading}</a>`);
  const sections = parts.map(
    ([id, heading, content]) =>
      markup`<h2 id="${id}">${heading} <a class="up" href="#contents">${up}</a></h2>${content}\n`,
  );
  return markup`<h1>${title}</h1>${before}<nav id="contents"><b>${contents}</b><ul>${links}</ul></nav>\n${sections}`;
}

function summary(texts: Texts, { account, export_id, exported_at, refused }: StoredManifest, of: Collected): Html {
  const { summary: words } = texts;
  const { events, recipients, accesses } = of.sections;
  return markup`${facts([
    [words.account, shown(texts, account)],
    [words.exportedAt, time(texts, exported_at)],
    [words.events, events.count],
    ...(of.oldest === undefined ? [] : [[words.first, time(texts, of.oldest)] as const]),
    ...(of.newest === undefined ? [] : [[words.last, time(texts, of.newest)] as const]),
    [words.occasions, tally(texts, of.occasions)],
    [words.devices, tally(texts, of.devices, of.undescribed)],
    ...(of.unreadable > 0 ? [[words.unreadable, of.unreadable] as const] : []),
    [words.handedOut, recipients.count],
    [words.accesses, accesses.count],
    [words.exportId, code(texts, export_id)],
  ])}<p>${words.eventIs} ${words.verdict}</p>${refused ? markup`<p>${texts.refused}</p>` : ""}`;
}

/** @param unnamed the number of events that none of the texts counts. */
function tally(texts: Texts, { counts, isFull }: Tally, unnamed = 0): Html {
  if (counts.size === 0 && unnamed === 0) return markup`${texts.summary.none}`;
  const { others, notStated } = texts.summary;
  const items = [...counts].map(([text, count]) => markup`<li>${shown(texts, text)}: ${count}`);
  const rest = unnamed > 0 ? markup`<li>${notStated}: ${unnamed}` : "";
  return markup`<ul>${items}${isFull ? markup`<li>${others}` : ""}${rest}</ul>`;
}

/** The purposes for which something of the account is stored. */
export const ownPurposes = ({ purposes, eventsOf, valuesOf }: Collected): readonly PurposeLine[] =>
  [...purposes.values()].filter(({ purpose: id }) => eventsOf.counts.has(id) || valuesOf.counts.has(id));

function purposesTable(texts: Texts, of: Collected): Html {
  const { intro, name, basis, bases, owner, raw, derived, events, retired, none, holds } = texts.purposes;
  const own = ownPurposes(of);
  if (own.length === 0) return markup`<p>${none}</p>`;
  const each = own.map((purpose) => {
    const end = purpose.retired_at === null ? "" : markup`<br>${retired}`;
    return markup`<h3>${shown(texts, purpose.title)}</h3>${facts([
      [basis, shown(texts, purpose.legal_basis ?? "")],
      [owner, shown(texts, purpose.owner ?? "")],
      [raw, keptFor(texts, purpose.raw_retention)],
      [derived, keptFor(texts, purpose.derived_retention)],
      [events, of.eventsOf.counts.get(purpose.purpose) ?? 0],
      [name, markup`${code(texts, purpose.purpose)}${end}`],
    ])}`;
  });
  return markup`<p>${intro}</p>${each}<p>${holds}</p><h3>${bases.heading}</h3>${facts(bases.list)}<p>${bases.asked}</p>`;
}

/** How long something is kept, in words. */
export const keptFor = (texts: Texts, duration: string | null): string => {
  const { noEnd, afterReceipt } = texts.purposes;
  return duration === null ? noEnd : fill(afterReceipt, { period: period(texts, duration) });
};

function periodsTable(texts: Texts, { periods }: Collected): Html | string {
  if (periods.length === 0) return "";
  const { heading, record, end } = texts.periods;
  const labels = [record, end];
  return markup`<h3>${heading}</h3>${table(
    labels,
    periods.map((line) => periodRow(texts, labels, line)),
  )}`;
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
  return markup`<p>${intro}</p>${table(labels, rows)}`;
}

function statesList({ states }: Texts): Html {
  return markup`${facts(Object.values(states.list))}<h3>${states.technical}</h3>${facts(states.glossary)}`;
}

function list(texts: Texts, { sections }: Collected, name: SectionName): Html {
  const { none, intro } = texts[name];
  const { count, first, pages } = sections[name];
  if (count === 0) return markup`<p>${none}</p>`;
  const links = pages.map(({ file, number, entries, from, to }) => {
    const span = { from: time(texts, from), to: time(texts, to) };
    return markup`<li><a href="${file}">${fillMarkup(texts.pages.part, { number, count: entries, ...span })}</a>`;
  });
  const more = links.length > 0 ? markup`<p><b>${texts.pages.more}</b></p><ul>${links}</ul>` : "";
  return markup`<p>${intro}</p>${withTable(texts, name, first)}${more}`;
}

function receipts(texts: Texts, { receipts: of }: Collected): Html | string {
  if (of.counts.size === 0) return "";
  const items = [...of.counts].map(([outcome, count]) => markup`<li>${outcomeOf(texts, outcome)}: ${count}`);
  return markup`<p>${texts.accesses.receipts}</p><ul>${items}</ul>`;
}

function filesTable(texts: Texts, { files: all }: StoredManifest): Html {
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
