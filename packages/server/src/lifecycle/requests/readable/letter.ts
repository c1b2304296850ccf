/** The letter to the person, next to the pages of an export. */
import { escapeControls } from "../../../base/messages/escape-controls.ts";
import type { StoredManifest } from "../account-export.ts";
import { type Collected, keptFor, ownPurposes } from "./overview.ts";
import { articleOf, type RequestLine, type RestrictionLine } from "./table-rows.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";
import { dateOf, period } from "./words.ts";

export interface LetterFacts extends Collected {
  readonly request: RequestLine | undefined;
  /** The active ones. */
  readonly restrictions: readonly RestrictionLine[];
}

/** The request that an export answers: the one that it names, or else the latest open one for access. */
export const requestOf = ({ request_id }: StoredManifest, requests: readonly RequestLine[]): RequestLine | undefined =>
  requests.find((request) => request.request_id === request_id) ??
  requests.findLast(({ kind, outcome }) => outcome === null && (kind === "access" || kind === "portability"));

/** A part that the operator completes. */
const GAP = /\[[^\]]+\]/g;
/** A line that is only a place, and is left out if its value is empty. */
const PLACE = /^\{\w+\}$/;

/**
 * The letter as plain text. It has what the files know; the operator completes the parts in brackets.
 * @returns `gaps`: the number of these parts. Brackets of a value do not count.
 */
export function letter(texts: Texts, manifest: StoredManifest, of: LetterFacts): { text: string; gaps: number } {
  const { warning, body, unknown } = texts.letter;
  const known = { ...valuesOf(texts, manifest, of), ...requestValues(texts, of.request) };
  const missing = Object.fromEntries(Object.entries(unknown).filter(([name]) => known[name] === undefined));
  const open = body.map((line) => fill(line, missing));
  const gaps = open.reduce((sum, line) => sum + (line.match(GAP)?.length ?? 0), 0);
  const lines = open.map((line) => [line, fill(line, known)] as const);
  const written = lines.flatMap(([line, text]) => (text === "" && PLACE.test(line) ? [] : [text]));
  return { text: [...warning.map((line) => fill(line, { gaps })), ...written].join("\n"), gaps };
}

type Values = Readonly<Record<string, string | number | undefined>>;

function valuesOf(texts: Texts, { account, export_id, exported_at }: StoredManifest, of: LetterFacts): Values {
  const { recipients, restrictions, sections, oldest, newest } = of;
  const { lines, noRecipients } = texts.letter;
  const backups = of.periods.find(({ record }) => record === "backups")?.period ?? undefined;
  const span = { from: dayOf(texts, oldest), to: dayOf(texts, newest) };
  return {
    account: escapeControls(account),
    export: export_id,
    date: dayOf(texts, exported_at),
    events: sections.events.count,
    span: oldest === undefined ? "" : fill(lines.span, span),
    values: sections.features.count,
    accesses: sections.accesses.count,
    purposes: purposeLines(texts, of).join("\n"),
    recipients: [...recipients.counts.keys()].map(escapeControls).join(", ") || noRecipients,
    restrictions: restrictions.map((line) => restrictionLine(texts, line)).join("\n"),
    backups: backups && period(texts, backups),
  };
}

const dayOf = (texts: Texts, at = ""): string => dateOf(texts, new Date(at));

function purposeLines(texts: Texts, of: LetterFacts): readonly string[] {
  return ownPurposes(of).map(({ purpose, title, legal_basis, raw_retention, derived_retention }) =>
    fill(texts.letter.lines.purpose, {
      title: escapeControls(title),
      basis: escapeControls(legal_basis ?? "?"),
      raw: keptFor(texts, raw_retention),
      derived: keptFor(texts, derived_retention),
      count: of.eventsOf.counts.get(purpose) ?? 0,
    }),
  );
}

const restrictionLine = (texts: Texts, line: RestrictionLine): string =>
  fill(texts.letter.lines.restriction, { what: articleOf(texts, line), date: dayOf(texts, line.placed_at) });

function requestValues(texts: Texts, request: RequestLine | undefined): Values {
  if (!request) return {};
  const { request_id, kind, received_at, due_at, identity } = request;
  const kinds: Readonly<Record<string, string>> = texts.requests.kinds;
  return {
    request: request_id,
    kind: Object.hasOwn(kinds, kind) ? kinds[kind] : undefined,
    received: dayOf(texts, received_at),
    due: dayOf(texts, due_at),
    identity: identity === null ? undefined : escapeControls(identity),
  };
}
