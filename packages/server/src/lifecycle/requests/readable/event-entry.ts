/** An event as HTML: its attributes, and its groups with each observation and its meaning. */
import { createHash } from "node:crypto";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field, Platform, Probe, Unit } from "@device-risk-signals/contract/catalog/declare";
import { whyNotObserved } from "@device-risk-signals/contract/catalog/not-observed";
import type { ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { type Html, markup } from "../../../base/messages/html.ts";
import { anchorOf, type Root, sectionHref } from "./links.ts";
import { facts } from "./page.ts";
import { articleOf, type RestrictionLine } from "./table-rows.ts";
import type { Texts } from "./texts/en.ts";
import { fill } from "./texts/texts.ts";
import { code, date, dateOf, shown, time, value } from "./words.ts";

/** A line of `events.ndjson`. */
export interface EventLine {
  readonly event_id: string;
  readonly idempotency_key: string;
  readonly purpose: string;
  readonly action_id: string;
  readonly action_type: string;
  readonly session_id: string;
  readonly sdk_version: string;
  readonly platform: string;
  readonly app_version: string;
  readonly collected_at: string;
  readonly received_at: string;
  /** When the period of the purpose ends; `null` if it has no end. */
  readonly delete_on: string | null;
  readonly restricted: boolean;
  readonly unreadable?: true;
  readonly file?: string;
  readonly bytes?: number;
}

type Json = Readonly<Record<string, unknown>>;

/** What the entries of a page share. */
export interface EntryContext {
  readonly texts: Texts;
  /** The title of a purpose by its id. */
  readonly titleOf: (purpose: string) => string;
  /** Where the page shows a group with the same values, by a hash of the group. */
  readonly seen: Map<string, { readonly event: number; readonly anchor: string }>;
  /** The active objections and restrictions, which exclude events from analysis. */
  readonly restrictions: readonly RestrictionLine[];
  readonly root: Root;
}

const CATALOG_PROBES = new Map(CATALOG.map((probe) => [probe.id, probe]));
/** Members of an event that its attributes contain, or that every event has. */
const ENVELOPE = new Set(["session_id", "event_type", "schema_version", "collected_at", "probes", "client_id"]);
/** Bounds for what the catalog does not know. All of it is in the file. */
const MAX_UNKNOWN_FIELDS = 100;
const MAX_UNKNOWN_GROUPS = 50;

const isObject = (of: unknown): of is Json => typeof of === "object" && of !== null && !Array.isArray(of);

const outcomesOf = (event: unknown): ReadonlyMap<string, Json> => {
  const probes = isObject(event) && isObject(event["probes"]) ? event["probes"] : {};
  return new Map(Object.entries(probes).filter((entry): entry is [string, Json] => isObject(entry[1])));
};

/** The probes of the catalog that an event observed. */
export const observedProbes = (event: unknown): readonly string[] =>
  Array.from(outcomesOf(event)).flatMap(([id, { status }]) =>
    status === "success" && CATALOG_PROBES.has(id) ? [id] : [],
  );

export interface ObservedField {
  readonly id: string;
  readonly name: string;
  readonly of: unknown;
  readonly unit: Unit | undefined;
}

/** The observed fields of high sensitivity. */
export const sensitiveFields = (event: unknown): readonly ObservedField[] =>
  observedProbes(event).flatMap((id) => {
    const fields = CATALOG_PROBES.get(id)?.fields ?? {};
    return Object.entries(dataOf(event, id)).flatMap(([name, of]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return field?.sensitivity === "high" ? [{ id, name, of, unit: field.unit }] : [];
    });
  });

/** What a field says, for people; `undefined` if the catalog does not know it. @param name as `object.member` of a member */
export function observationOf({ observations }: Texts, id: string, name: string): string | undefined {
  const probes: Readonly<Record<string, Readonly<Record<string, string>>>> = observations;
  const fields = Object.hasOwn(probes, id) ? probes[id] : undefined;
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function dataOf(event: unknown, probe: string): Json {
  const { status, data } = outcomesOf(event).get(probe) ?? {};
  return status === "success" && isObject(data) ? data : {};
}

/** Title and meaning of a probe for people; empty texts for one that the catalog does not know. */
export const describe = ({ groups }: Texts, id: string): readonly [title: string, about: string] =>
  CATALOG_PROBES.has(id) ? groups.probes[id as ProbeId] : ["", groups.unknown];

/** How a device describes itself, such as `Google Pixel 8, Android 14`; an empty text if it does not. */
export function deviceOf(event: unknown): string {
  const { manufacturer, model, systemName, systemVersion } = dataOf(event, "device_identity");
  const join = (...words: readonly unknown[]): string => words.filter((word) => typeof word === "string").join(" ");
  return [join(manufacturer, model), join(systemName, systemVersion)].filter(Boolean).join(", ");
}

/** @param exact the value of the event's JSON; `undefined` if the event can't be read. */
export function eventEntry(context: EntryContext, number: number, line: EventLine, exact: unknown): Html {
  const { texts } = context;
  const { number: title, unreadable, notShown } = texts.events;
  const event = isObject(exact) ? exact : {};
  const device = deviceOf(event);
  const what = markup`${shown(texts, line.action_type)}${device === "" ? "" : markup` · ${shown(texts, device)}`}`;
  const summary = markup`<b>${fill(title, { number })}</b> ${time(texts, line.received_at)}<br>${what}`;
  const content = isObject(exact)
    ? groups(context, number, line.platform, event)
    : markup`<p>${exact === undefined ? unreadable : notShown}</p>`;
  const inside = markup`${attributes(context, number, line, event)}${content}`;
  return markup`<details id="e${number}"><summary>${summary}</summary>${inside}</details>\n`;
}

function attributes(context: EntryContext, number: number, line: EventLine, event: Json): Html {
  const { texts, titleOf, root } = context;
  const of = texts.events;
  const client = event["client_id"];
  const { file: name = "", bytes: count = 0 } = line;
  const file = markup`<a href="${root}${name}">${name}</a> (${fill(of.bytes, { count })})`;
  const collected = typeof event["collected_at"] === "string" ? event["collected_at"] : line.collected_at;
  const rows = facts([
    [of.received, time(texts, line.received_at)],
    [of.deleteOn, line.delete_on === null ? texts.purposes.noEnd : date(texts, line.delete_on)],
    [of.collected, markup`${time(texts, line.collected_at)} ${code(texts, collected)}`],
    [of.occasion, shown(texts, line.action_type)],
    [of.purpose, markup`${shown(texts, titleOf(line.purpose))} ${code(texts, line.purpose)}`],
    [of.platform, shown(texts, line.platform)],
    [of.app, shown(texts, line.app_version)],
    [of.sdk, shown(texts, line.sdk_version)],
    [of.restricted, restricted(context, line)],
    ...(typeof client === "string" ? [[of.client, code(texts, client)] as const] : []),
    [of.session, code(texts, line.session_id)],
    [of.action, code(texts, line.action_id)],
    [of.key, code(texts, line.idempotency_key)],
    [of.eventId, code(texts, line.event_id)],
    ...(line.file === undefined ? [] : [[of.file, file] as const]),
  ]);
  return markup`<div id="${anchorOf(number)}">${rows}</div>`;
}

/** Whether the event is excluded from analysis, and by what. */
function restricted({ texts, restrictions, root }: EntryContext, line: EventLine): Html {
  const { because } = texts.events;
  if (!line.restricted) return value(texts, false);
  const causes = restrictions
    .filter(({ purpose }) => purpose === null || purpose === line.purpose)
    .map((cause) => {
      const what = fill(because, { what: articleOf(texts, cause), date: dateOf(texts, new Date(cause.placed_at)) });
      return markup`<br><a href="${sectionHref(root, "requests")}">${what}</a>`;
    });
  return markup`${value(texts, true)}${causes}`;
}

function groups(context: EntryContext, number: number, platform: string, event: Json): Html {
  const { texts } = context;
  const outcomes = outcomesOf(event);
  const unknown = [...outcomes.keys()].filter((id) => !CATALOG_PROBES.has(id));
  const ids = [...CATALOG_PROBES.keys(), ...unknown.slice(0, MAX_UNKNOWN_GROUPS)];
  const observed: Html[] = [];
  const others = new Map<string, { readonly state: Html; readonly names: Html[] }>();
  for (const id of ids) {
    const outcome = outcomes.get(id);
    const name = markup`${describe(texts, id)[0]} ${code(texts, id)}`;
    if (outcome?.["status"] === "success") {
      const anchor = `e${number}-${observed.length}`;
      observed.push(group(context, { id, name, number, anchor, platform, data: dataOf(event, id) }));
      continue;
    }
    const state = stateOf(texts, outcome);
    const same = others.get(state.text) ?? { state, names: [] };
    same.names.push(markup`<li>${name}`);
    others.set(state.text, same);
  }
  const unobserved = [...others.values()].map(({ state, names }) => markup`<p>${state}</p><ul>${names}</ul>`);
  const more = unknown.length - MAX_UNKNOWN_GROUPS;
  const left = more > 0 ? markup`<p>${fill(texts.events.moreGroups, { count: more })}</p>` : "";
  const extras = Object.entries(event).filter(([name]) => !ENVELOPE.has(name));
  return markup`${observed}${unobserved}${left}${extras.length > 0 ? otherMembers(texts, extras) : ""}`;
}

function otherMembers(texts: Texts, members: readonly (readonly [string, unknown])[]): Html {
  const rows = members
    .slice(0, MAX_UNKNOWN_FIELDS)
    .map(([name, of]) => markup`<dt>${code(texts, name)}<dd>${value(texts, of)}`);
  return markup`<p>${texts.events.others}</p><dl>${rows}</dl>${moreFields(texts, members.length - rows.length)}`;
}

const moreFields = (texts: Texts, count: number): Html | string =>
  count > 0 ? markup`<p class="note">${fill(texts.events.moreFields, { count })}</p>` : "";

/** The state of a group without observations, and its reason. */
function stateOf(texts: Texts, outcome: Json | undefined): Html {
  const { states } = texts;
  if (!outcome) return markup`<b>${states.omitted}</b>`;
  if (outcome["status"] === "timeout") return markup`<b>${states.timeout}</b>`;
  const isSkipped = outcome["status"] === "skipped";
  const word = isSkipped ? outcome["reason"] : outcome["error"];
  const known: Readonly<Record<string, string>> = isSkipped ? states.reasons : states.errors;
  const raw = String(word);
  const reason = Object.hasOwn(known, raw) ? (known[raw] ?? "") : states.outside;
  return markup`<b>${isSkipped ? states.skipped : states.error}</b>: ${reason} <code>${shown(texts, raw)}</code>`;
}

interface Group {
  readonly id: string;
  readonly name: Html;
  readonly number: number;
  readonly anchor: string;
  readonly platform: string;
  readonly data: Json;
}

interface FieldRow {
  readonly name: string;
  readonly of: unknown;
  readonly field: Field | undefined;
  /** The field of the probe that has the value or contains it. */
  readonly top: string;
}

function group({ texts, seen }: EntryContext, { id, name, number, anchor, platform, data }: Group): Html {
  const hash = createHash("sha256")
    .update(JSON.stringify([id, platform, data]))
    .digest("base64");
  const same = seen.get(hash);
  if (same !== undefined) {
    const where = markup`<a href="#${same.anchor}">${fill(texts.events.sameAs, { number: same.event })}</a>`;
    return markup`<p>${name}: ${where}</p>\n`;
  }
  seen.set(hash, { event: number, anchor });
  const probe = CATALOG_PROBES.get(id);
  const rows = rowsOf(data, probe?.fields ?? {});
  const known = rows.filter(({ field }) => field);
  const unknown = rows.filter(({ field }) => !field);
  const listed = [...known, ...unknown.slice(0, MAX_UNKNOWN_FIELDS)];
  const entries = listed.map((row) => fieldEntry(texts, probe, row, { data, platform }));
  const summary = markup`${name} · ${fill(texts.events.values, { count: rows.length })}`;
  const about = markup`<p class="note" id="${anchor}">${describe(texts, id)[1]}</p>`;
  const more = moreFields(texts, rows.length - listed.length);
  const missing = probe ? absent(texts, probe, data, platform) : "";
  const inside = markup`${about}<dl>${entries}</dl>${more}${missing}`;
  return markup`<details><summary>${summary}</summary>${inside}</details>\n`;
}

/**
 * A row for each field, in the order of the catalog, and then for each that it does not know; for each member of an
 * object that the catalog describes.
 */
function rowsOf(data: Json, fields: Probe["fields"], prefix = "", parent?: string): readonly FieldRow[] {
  const known = Object.keys(fields).filter((name) => Object.hasOwn(data, name));
  const unknown = Object.keys(data).filter((name) => !Object.hasOwn(fields, name));
  return [...known, ...unknown].flatMap((name): readonly FieldRow[] => {
    const [of, top] = [data[name], parent ?? name];
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field?.fields && isObject(of)) return rowsOf(of, field.fields, `${name}.`, top);
    return [{ name: prefix + name, of, field, top }];
  });
}

function fieldEntry(
  texts: Texts,
  probe: Probe | undefined,
  { name, of, field, top }: FieldRow,
  event: { readonly data: Json; readonly platform: string },
): Html {
  const why = probe && whyNotObserved(probe, top, field, event);
  const note = why && (why.why === "constant" ? texts.events.constant : fill(texts.events.notPerformed, why));
  // The catalog is in English.
  const says = observationOf(texts, probe?.id ?? "", name) ?? texts.events.unknownField;
  const meaning = field ? markup` <small lang="en">${field.meaning}</small>` : "";
  const after = note ? markup`<br><i>${note}</i>` : "";
  return markup`<dt>${says}${meaning} ${code(texts, name)}<dd>${value(texts, of, field?.unit)}${after}\n`;
}

function absent(texts: Texts, { fields }: Probe, data: Json, platform: string): Html | string {
  const known = Object.entries(fields).filter(([, { platforms }]) => platforms.includes(platform as Platform));
  const missing = known.filter(([name]) => !Object.hasOwn(data, name));
  if (missing.length === 0) return "";
  return markup`<p class="note">${fill(texts.events.absent, { count: missing.length, total: known.length })}</p>`;
}
