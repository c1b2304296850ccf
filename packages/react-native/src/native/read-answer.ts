/**
 * Reads the answer of native code without trusting it. A patched native half may answer anything: wrong types, huge
 * texts, or no members. A value without its declared shape counts as not read. The judgement of `network` on iOS checks
 * the members of `proxies`, so that the bundle of an Android app does not contain this check.
 */
import { entriesOf } from "../entries.ts";
import { membersOf } from "../members.ts";
import type { Calculated, Evidence, NativeAnswer, Presence, SourceId, Text } from "./native-interface.ts";

/** The maximum length of a text in UTF-16 code units. Native code reads no more than 4 MiB. */
const MAX_TEXT_LENGTH = 4 * 1_024 * 1_024;
const MAX_LIST_LENGTH = 8_192;
const MAX_ENTRY_LENGTH = 4_096;

export function readAnswer(answer: unknown): NativeAnswer {
  const members = membersOf(answer);
  if (!members) return {};
  const { unavailable } = members;
  if (unavailable === "unsupported" || unavailable === "permission") return { unavailable };
  return { fields: membersOf(members["fields"]) ?? {}, evidence: readEvidence(members["evidence"]) };
}

function readEvidence(value: unknown): Evidence {
  const members = membersOf(value) ?? {};
  const evidence: Record<string, unknown> = {};
  for (const [source, read] of Object.entries(READERS)) {
    if (!Object.hasOwn(members, source)) continue;
    const parsed = read(members[source]);
    if (parsed !== undefined) evidence[source] = parsed;
  }
  return evidence;
}

function readText(value: unknown): Text | undefined {
  const { text, truncated } = membersOf(value) ?? {};
  if (typeof text !== "string") return undefined;
  if (text.length <= MAX_TEXT_LENGTH) return { text, truncated: truncated === true };
  return { text: text.slice(0, MAX_TEXT_LENGTH), truncated: true };
}

/** Returns the whole list or `undefined`: after one wrong entry the others can't be trusted either. */
export const readList = (value: unknown): readonly string[] | undefined =>
  entriesOf(
    value,
    MAX_LIST_LENGTH,
    (entry): entry is string => typeof entry === "string" && entry.length <= MAX_ENTRY_LENGTH,
  );

const readNumbers = (value: unknown): readonly number[] | undefined =>
  entriesOf(value, MAX_LIST_LENGTH, (entry) => typeof entry === "number");

function readPresence(value: unknown): Presence | undefined {
  const members = membersOf(value) ?? {};
  const present = readList(members["present"]);
  const absent = readList(members["absent"]);
  return present && absent && { present, absent };
}

function readTexts(value: unknown): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(membersOf(value) ?? {});
  if (entries.length === 0 || entries.length > MAX_LIST_LENGTH) return undefined;
  const texts: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, text] of entries) {
    if (typeof text === "string" && text.length <= MAX_ENTRY_LENGTH) texts[name] = text;
  }
  return texts;
}

function readCalculated(value: unknown): Calculated | undefined {
  const { integers, floats, negativeZero, subnormal } = membersOf(value) ?? {};
  const calculated = { integers: readNumbers(integers), floats: readNumbers(floats), negativeZero, subnormal };
  return calculated.integers && calculated.floats && typeof negativeZero === "number" && typeof subnormal === "number"
    ? (calculated as Calculated)
    : undefined;
}

const READERS: Readonly<Record<SourceId, (value: unknown) => unknown>> = {
  maps: readText,
  mountInfo: readText,
  status: readText,
  cpuInfo: readText,
  unixSockets: readText,
  tcpSockets: readText,
  threads: readList,
  descriptors: readList,
  stack: readList,
  images: readList,
  build: readTexts,
  properties: readTexts,
  packages: readPresence,
  executables: readPresence,
  paths: readPresence,
  classes: readPresence,
  environment: readPresence,
  bundleFolder: readPresence,
  writablePaths: readPresence,
  links: readPresence,
  schemes: readPresence,
  ports: readPresence,
  parentPid: (value) => (Number.isSafeInteger(value) ? value : undefined),
  proxies: membersOf,
  numbers: readCalculated,
};
