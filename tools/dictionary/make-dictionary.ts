/**
 * Makes a dictionary for stored events from the catalog and synthetic events. The result is the same on every machine.
 */
import type { RawSignalEvent } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field } from "@device-risk-signals/contract/catalog/declare";
import { ENVELOPE } from "@device-risk-signals/contract/members";
import { fullEvent } from "../../bench/src/full-event.ts";
import { NameTokens } from "../../packages/scanner/src/name-tokens.ts";

export interface Dictionary {
  /** The names that have tokens, in the order of their numbers. */
  readonly names: readonly string[];
  /**
   * A zstd dictionary without headers: texts to which a compressed text may refer. The most probable texts are last.
   */
  readonly content: Buffer;
}

const SAMPLES = 300;
/** The first seed of the samples. The load generator of the benches uses none of them. */
const FIRST_SEED = 1_000_000;
const COLLECTED_FROM = Date.UTC(2026, 0, 1);
const EVENT_INTERVAL_MS = 977_000;
/** The samples must contain a value or a list item at least this often, which is once in ten events on average. */
const MIN_FREQUENCY = SAMPLES / 10;

type Fields = Readonly<Record<string, Field>>;

export function makeDictionary(): Dictionary {
  // The list omits the names of an outcome (`status`, `data`), so that the first field of a probe follows its id.
  const names = [
    ...new Set([...Object.keys(ENVELOPE.members), ...CATALOG.flatMap(({ id, fields }) => [id, ...namesOf(fields)])]),
  ];
  const encoder = new NameTokens(names).openEncoder();
  const texts = [JSON.stringify(sample(SAMPLES)), frequentTexts().join(""), emptyEvent()];
  return { names, content: Buffer.concat(texts.map((text) => Buffer.from(encoder.encode(Buffer.from(text)).text))) };
}

function namesOf(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, { fields: below }]) => [name, ...(below ? namesOf(below) : [])]);
}

const sample = (index: number): RawSignalEvent =>
  fullEvent(FIRST_SEED + index, new Date(COLLECTED_FROM + index * EVENT_INTERVAL_MS));

/** Texts that many synthetic events contain, the most frequent one last. */
function frequentTexts(): string[] {
  const counts = new Map<string, number>();
  for (let index = 0; index < SAMPLES; index++) {
    for (const text of textsOf(sample(index).probes)) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const frequent = [...counts].filter(([, count]) => count >= MIN_FREQUENCY);
  return frequent.toSorted(([, a], [, b]) => a - b).map(([text]) => text);
}

function* textsOf(object: object): Iterable<string> {
  for (const [name, value] of Object.entries(object)) {
    if (Array.isArray(value)) yield* value.map((item) => `${JSON.stringify(item)},`);
    else if (typeof value === "object") yield* textsOf(value as object);
    else if (typeof value !== "boolean") yield `"${name}":${JSON.stringify(value)},`;
  }
}

/**
 * An event with every field of the catalog. Flags are false, and numbers are 1. A text field occurs once for each word
 * of its closed vocabulary, and a list has all words of its vocabulary. Texts and lists without a vocabulary are empty.
 */
function emptyEvent(): string {
  const head = `{"session_id":"","client_id":"","event_type":"device_intel_collection","schema_version":1,"collected_at":"2026-`;
  const probes = CATALOG.map(({ id, fields }) => `"${id}":{"status":"success","data":{${membersOf(fields)}}},`);
  return `${head}","probes":{${probes.join("")}`;
}

function membersOf(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, field]) => memberOf(name, field))
    .join("")
    .slice(0, -1);
}

function memberOf(name: string, { type, values, fields = {} }: Field): string {
  const words = [...new Set(Object.values(values ?? {}).flat())];
  switch (type) {
    case "boolean":
      return `"${name}":false,`;
    case "number":
      return `"${name}":1,`;
    case "string":
      return words.length === 0 ? `"${name}":"",` : words.map((word) => `"${name}":"${word}",`).join("");
    case "string[]":
    case "number[]":
      return `"${name}":${JSON.stringify(words)},`;
    case "object":
      return `"${name}":{${membersOf(fields)}},`;
  }
}
