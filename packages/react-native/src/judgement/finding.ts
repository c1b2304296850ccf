/**
 * Most fields say whether, or which, artefacts of a list are found in evidence. A finding answers that, and knows
 * whether all of them were examined: unknown is not false.
 */
import type { Evidence, Presence, Sources, Text } from "../native/native-interface.ts";
import { type Judgement, mergeSources, type Value } from "./judgement.ts";
import { captures } from "./lines.ts";

export interface Found {
  readonly found: readonly string[];
  /** Whether every requested artefact was examined, so that one that was not found does not exist. */
  readonly whole: boolean;
}

export interface Finding {
  readonly sources: Partial<Sources>;
  find(this: void, evidence: Evidence): Found;
}

type SourceOf<Shape> = {
  [Source in keyof Evidence]-?: NonNullable<Evidence[Source]> extends Shape ? Source : never;
}[keyof Evidence];

export const UNKNOWN: Found = { found: [], whole: false };

/** Native code stops reading after this many entries (docs/native-interface.md): a list this long is not complete. */
const MAX_ENTRIES = { threads: 1_024, descriptors: 2_048, stack: 256, images: 4_096 };

/** Bounds of reported names and of lists of names, for evidence of any size. */
const MAX_NAME_LENGTH = 128;
const MAX_NAMES = 64;

/** A finding in one source; everything is unknown when the source was not read. */
export function findingIn<Source extends keyof Evidence>(
  source: Source,
  argument: Sources[Source],
  look: (content: NonNullable<Evidence[Source]>) => Found,
): Finding {
  return {
    sources: { [source]: argument },
    find({ [source]: content }) {
      return content === undefined ? UNKNOWN : look(content);
    },
  };
}

/** The names of a list that are present. */
export function present(source: SourceOf<Presence>, list: readonly string[]): Finding {
  return findingIn(source, list, ({ present, absent }) => {
    const seen = new Set([...present, ...absent]);
    return { found: list.filter((name) => present.includes(name)), whole: list.every((name) => seen.has(name)) };
  });
}

/** The names that are recognised. */
export function named(source: keyof typeof MAX_ENTRIES, recognise: (name: string) => string | undefined): Finding {
  return findingIn(source, true, (names) => ({
    found: names.map(recognise).filter((name) => name !== undefined),
    whole: names.length < MAX_ENTRIES[source],
  }));
}

/** Finds names in a text. */
export function inText(source: SourceOf<Text>, find: (text: Text) => Iterable<string>): Finding {
  return findingIn(source, true, (text) => ({ found: [...find(text)], whole: !text.truncated }));
}

/** Finds the known names among the first groups of a pattern in the lines of a text. */
export function inLines(source: SourceOf<Text>, pattern: RegExp, isKnown: (name: string) => boolean): Finding {
  return inText(source, ({ text }) => captures(text, pattern).filter(isKnown));
}

/** Members of the build or properties with a value that is known, as `name=value`. What is not set is `""`, or missing. */
export function facts(source: "build" | "properties", names: readonly string[], known: RegExp): Finding {
  const argument = (source === "build" ? true : names) as true;
  return findingIn(source as "build", argument, (values) => ({
    found: names.map((name) => `${name}=${values[name]}`).filter((fact) => known.test(fact)),
    whole: names.every((name) => values[name] !== undefined),
  }));
}

/** Several as one: all that they find. */
export function together(...findings: readonly Finding[]): Finding {
  return {
    sources: mergeSources(findings.map(({ sources }) => sources)),
    find(evidence) {
      const several = findings.map(({ find }) => find(evidence));
      return { found: several.flatMap(({ found }) => found), whole: several.every(({ whole }) => whole) };
    },
  };
}

/** Whether an artefact is found: true as soon as one is, false only if all were examined. */
export function anyFound(finding: Finding): Judgement {
  return concluding(finding, ({ found, whole }) => found.length > 0 || (whole ? false : undefined));
}

/** The names that were found; absent unless all were examined. */
export function namesFound(finding: Finding): Judgement {
  return concluding(finding, namesOf);
}

/** The number of names that were found; absent unless all were examined. */
export function countFound(finding: Finding): Judgement {
  return concluding(finding, (found) => namesOf(found)?.length);
}

export function concluding({ sources, find }: Finding, conclude: (found: Found) => Value | undefined): Judgement {
  return { sources, judge: (evidence) => conclude(find(evidence)) };
}

function namesOf({ found, whole }: Found): readonly string[] | undefined {
  return whole ? [...new Set(found)].slice(0, MAX_NAMES).map(shortened) : undefined;
}

/** Cuts a name, and replaces half surrogate pairs: the event would leave out a text with one, and the list that has it. */
function shortened(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).replaceAll(/[\uD800-\uDFFF]/gu, "\uFFFD");
}
