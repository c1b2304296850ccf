/** The part of an account export that is for the person: pages that explain its files, and the template of a letter. */
import { createHash } from "node:crypto";
import type { AccountExport, ExportLanguage, ExportPart } from "@device-risk-signals/admin-api";
import { type Html, markup } from "../../../base/messages/html.ts";
import type { StoredManifest, StoredPart } from "../account-export.ts";
import { deviceOf, type EntryContext, eventEntry, type EventLine, observedProbes } from "./event-entry.ts";
import { letter, requestOf } from "./letter.ts";
import { Links, type Place, type Root } from "./links.ts";
import { type Collected, overview, type PurposeLine, type SectionName, Tally, withTable } from "./overview.ts";
import { page } from "./page.ts";
import { SensitiveValues } from "./sensitive-values.ts";
import { type PageFacts, PAGE_LIMITS, type PageLimits, Section, type WrittenPage } from "./section.ts";
import {
  type AccessLine,
  accessRow,
  type FeatureLine,
  featureRow,
  type PeriodLine,
  type RecipientLine,
  recipientRow,
  type RequestLine,
  requestRow,
  type RestrictionLine,
  restrictionRow,
} from "./table-rows.ts";
import type { Texts } from "./texts/en.ts";
import { fill, TEXTS } from "./texts/texts.ts";

/**
 * Adds pages and a letter to the parts of an export, before its manifest, which then lists them, too. They show only
 * what the parts contain, so that the same parts give the same bytes. Memory is bounded by the size of a page, not by
 * the number of events.
 */
export async function* withPages(
  parts: AsyncIterable<StoredPart>,
  language: ExportLanguage,
  limits: PageLimits = PAGE_LIMITS,
): AsyncGenerator<ExportPart> {
  const pages = new Pages(language, limits);
  const files: AccountExport["files"] = [];
  const write = function* (written: readonly WrittenPage[]): Generator<ExportPart> {
    for (const { file, text, rows } of written) {
      const sha256 = createHash("sha256").update(text).digest("hex");
      files.push({ name: file, rows, bytes: Buffer.byteLength(text), sha256 });
      yield { file, text };
    }
  };
  let exact: ExactEvent | undefined;
  for await (const part of parts) {
    if ("manifest" in part) {
      yield* write(pages.end());
      const { letter_gaps, written } = pages.overview(part.manifest);
      yield* write(written);
      yield { manifest: { ...part.manifest, letter_gaps, files: [...part.manifest.files, ...files] } };
      return;
    }
    yield part;
    // The exact bytes of an event come before the line that names them.
    if ("base64" in part) exact = { file: part.file, bytes: Buffer.from(part.base64, "base64") };
    else for (const line of linesOf(part.text)) yield* write(pages.read(part.file, line, exact));
  }
}

interface ExactEvent {
  readonly file: string;
  readonly bytes: Buffer;
}

const linesOf = (text: string): readonly unknown[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);

/** The number of occasions and of devices that the summary names, because clients can make any number of them. */
const MAX_SUMMARISED = 50;

class Pages {
  readonly #language: ExportLanguage;
  readonly #texts: Texts;
  readonly #sections: Readonly<Record<SectionName, Section>>;
  readonly #purposes = new Map<string, PurposeLine>();
  readonly #tallies = {
    eventsOf: new Tally(),
    valuesOf: new Tally(),
    occasions: new Tally(MAX_SUMMARISED),
    devices: new Tally(MAX_SUMMARISED),
    groups: new Tally(),
    receipts: new Tally(),
    recipients: new Tally(MAX_SUMMARISED),
  };
  readonly #links = new Links();
  readonly #sensitive: SensitiveValues;
  readonly #periods: PeriodLine[] = [];
  readonly #requests: RequestLine[] = [];
  readonly #restrictions: RestrictionLine[] = [];
  readonly #exports: RecipientLine[] = [];
  #context: EntryContext;
  #undescribed = 0;
  #unreadable = 0;
  #newest: string | undefined;
  #oldest: string | undefined;

  constructor(language: ExportLanguage, limits: PageLimits) {
    this.#language = language;
    this.#texts = TEXTS[language];
    this.#sensitive = new SensitiveValues(this.#texts);
    this.#context = this.#newContext("");
    const section = (name: SectionName): Section =>
      new Section(name, (facts, content) => this.#pageOf(name, facts, content), limits);
    this.#sections = {
      events: section("events"),
      recipients: section("recipients"),
      features: section("features"),
      accesses: section("accesses"),
      requests: section("requests"),
    };
  }

  /**
   * Reads a line of a file.
   * @param exact the event before the line, which names it unless it can't be read.
   * @returns the page that is full before the line.
   */
  read(file: string, line: unknown, exact: ExactEvent | undefined): readonly WrittenPage[] {
    switch (file) {
      case "purposes.ndjson":
        this.#purposes.set((line as PurposeLine).purpose, line as PurposeLine);
        return [];
      case "periods.ndjson":
        this.#periods.push(line as PeriodLine);
        return [];
      case "requests.ndjson":
        return this.#readRequest(line as RequestLine);
      case "restrictions.ndjson":
        return this.#readRestriction(line as RestrictionLine);
      case "exports.ndjson":
        return this.#readRecipient(line as RecipientLine);
      case "events.ndjson":
        return this.#readEvent(line as EventLine, exact);
      case "features.ndjson":
        return this.#readFeature(line as FeatureLine);
      case "accesses.ndjson":
        return this.#readAccess(line as AccessLine);
      default:
        return [];
    }
  }

  /** Ends the last page of each list. */
  end(): readonly WrittenPage[] {
    return Object.values(this.#sections).flatMap((section) => section.endPage(true));
  }

  /** The overview and the letter, and how many parts of the letter are to be completed. */
  overview(manifest: StoredManifest): { readonly letter_gaps: number; readonly written: readonly WrittenPage[] } {
    const of: Collected = {
      ...this.#tallies,
      sections: this.#sections,
      purposes: this.#purposes,
      periods: this.#periods,
      sensitive: this.#sensitive,
      undescribed: this.#undescribed,
      unreadable: this.#unreadable,
      newest: this.#newest,
      oldest: this.#oldest,
    };
    const { text, gaps } = letter(this.#texts, manifest, {
      ...of,
      request: requestOf(manifest, this.#requests),
      restrictions: this.#restrictions,
    });
    const index = page(this.#language, this.#texts.title, overview(this.#texts, manifest, of));
    const written = [
      { file: "index.html", text: index, rows: 0 },
      { file: "letter.txt", text, rows: 0 },
    ];
    return { letter_gaps: gaps, written };
  }

  readonly #titleOf = (purpose: string): string => this.#purposes.get(purpose)?.title ?? "";

  #newContext(root: Root): EntryContext {
    return { texts: this.#texts, titleOf: this.#titleOf, seen: new Map(), restrictions: this.#restrictions, root };
  }

  /** @param entryOf makes the entry, for the page that it is added to. */
  #add(name: SectionName, at: string, entryOf: (root: Root, place: Place) => Html): readonly WrittenPage[] {
    const section = this.#sections[name];
    const written = section.isFull ? section.endPage(false) : [];
    if (section.isEmpty && section.count > 0 && name === "events") this.#context = this.#newContext("../");
    section.add(entryOf(section.page === 1 ? "" : "../", { number: section.count + 1, page: section.page }), at);
    return written;
  }

  #readRequest(line: RequestLine): readonly WrittenPage[] {
    this.#requests.push(line);
    return this.#add("requests", line.received_at, () => requestRow(this.#texts, line));
  }

  #readRestriction(line: RestrictionLine): readonly WrittenPage[] {
    if (line.lifted_at === null && line.erased !== true) this.#restrictions.push(line);
    const request = this.#requests.find(({ request_id }) => request_id === line.request_id);
    return this.#add("requests", line.placed_at, () => restrictionRow(this.#texts, line, this.#titleOf, request));
  }

  #readRecipient(line: RecipientLine): readonly WrittenPage[] {
    this.#exports.push(line);
    this.#tallies.recipients.add(line.recipient);
    return this.#add("recipients", line.exported_at, () => recipientRow(this.#texts, line));
  }

  #readEvent(line: EventLine, exact: ExactEvent | undefined): readonly WrittenPage[] {
    const event = exact?.file === line.file && exact ? (JSON.parse(exact.bytes.toString()) as unknown) : undefined;
    const { eventsOf, occasions, devices, groups } = this.#tallies;
    this.#newest ??= line.received_at;
    this.#oldest = line.received_at;
    eventsOf.add(line.purpose);
    occasions.add(line.action_type);
    if (event === undefined) this.#unreadable++;
    else {
      const device = deviceOf(event);
      if (device === "") this.#undescribed++;
      else devices.add(device);
      for (const id of observedProbes(event)) groups.add(id);
    }
    return this.#add("events", line.received_at, (_, place) => {
      this.#links.add(line.event_id, place);
      this.#sensitive.add(event, line.received_at, place);
      return eventEntry(this.#context, place.number, line, event);
    });
  }

  #readFeature(line: FeatureLine): readonly WrittenPage[] {
    this.#tallies.valuesOf.add(line.purpose);
    const { feature = "", extracted_at = "" } = line;
    const recipients = this.#exports.filter(
      ({ purpose, features, exported_at }) =>
        purpose === line.purpose && features?.includes(feature) && exported_at >= extracted_at,
    );
    return this.#add("features", line.received_at, (root) =>
      featureRow(this.#texts, line, { links: this.#links, root, recipients }),
    );
  }

  /** What the app sent is counted; what people and programs did is listed. */
  #readAccess(line: AccessLine): readonly WrittenPage[] {
    if (line.operation !== "event.create") {
      return this.#add("accesses", line.at, (root) => accessRow(this.#texts, line, { links: this.#links, root }));
    }
    this.#tallies.receipts.add(line.outcome, line.occurrences);
    return [];
  }

  #pageOf(name: SectionName, { number, isLast }: PageFacts, content: Html): string {
    const { back, previous, next, ofSection } = this.#texts.pages;
    const title = fill(ofSection, { heading: this.#texts[name].heading, number });
    const before = number === 2 ? "../index.html" : `${name}-${number - 1}.html`;
    const after = isLast ? "" : markup` · <a href="${name}-${number + 1}.html">${next}</a>`;
    const up = markup`<a href="../index.html">${back}</a> · <a href="${before}">${previous}</a>`;
    const links = markup`<nav>${up}${after}</nav>`;
    const body = markup`${links}<h1>${title}</h1>${withTable(this.#texts, name, content)}${links}`;
    return page(this.#language, title, body);
  }
}
