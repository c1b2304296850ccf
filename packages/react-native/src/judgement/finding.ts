/**
 * Most fields report whether the evidence has any artefact of a list, or which of them it has. A finding has the
 * artefacts that were found, and also says whether all were examined, because an artefact that was not examined may
 * exist.
 */
import type { Evidence, Presence, Sources, Text } from "../native/native-interface.ts";
import { type Judgement, mergeSources, type Value } from "./judgement.ts";
import { captures } from "./lines.ts";

export interface Found {
  readonly found: readonly string[];
  /** Whether every requested artefact was examined. If so, an artefact that was not found does not exist. */
  readonly isComplete: boolean;
}

export interface Finding {
  readonly sources: Partial<Sources>;
  find(this: void, evidence: Evidence): Found;
}

type SourceOf<Shape> = {
  [Source in keyof Evidence]-?: NonNullable<Evidence[Source]> extends Shape ? Source : never;
}[keyof Evidence];

export const UNKNOWN: Found = { found: [], isComplete: false };

/**
 * Native code stops reading after this many entries (docs/native-interface.md), so a list of this length may be
 * incomplete.
 */
const MAX_ENTRIES = { threads: 1_024, descriptors: 2_048, stack: 256, images: 4_096 };

/** The maximum length of a reported name, and of a list of such names, however large the evidence is. */
const MAX_NAME_LENGTH = 128;
const MAX_NAMES = 64;

/** A finding in one source. If the source was not read, the whole finding is unknown. */
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
    return { found: list.filter((name) => present.includes(name)), isComplete: list.every((name) => seen.has(name)) };
  });
}

/** The names that `recognise` returns for the entries of a list. */
export function named(source: keyof typeof MAX_ENTRIES, recognise: (name: string) => string | undefined): Finding {
  return findingIn(source, true, (names) => ({
    found: names.map(recognise).filter((name) => name !== undefined),
    isComplete: names.length < MAX_ENTRIES[source],
  }));
}

/** Finds names in a text. */
export function inText(source: SourceOf<Text>, find: (text: Text) => Iterable<string>): Finding {
  return findingIn(source, true, (text) => ({ found: [...find(text)], isComplete: !text.truncated }));
}

/** Finds known names in the lines of a text. A name is the first group of the pattern. */
export function inLines(source: SourceOf<Text>, pattern: RegExp, isKnown: (name: string) => boolean): Finding {
  return inText(source, ({ text }) => captures(text, pattern).filter(isKnown));
}

/**
 * The members of the build, or the properties, whose text `name=value` matches `known`. A value that is not set is
 * `""`, and a value that could not be read is missing.
 */
export function facts(source: "build" | "properties", names: readonly string[], known: RegExp): Finding {
  const argument = (source === "build" ? true : names) as true;
  return findingIn(source as "build", argument, (values) => ({
    found: names
      .filter((name) => values[name])
      .map((name) => `${name}=${values[name]}`)
      .filter((fact) => known.test(fact)),
    isComplete: names.every((name) => values[name] !== undefined),
  }));
}

/** Joins several findings into one that has all of their names. */
export function together(...findings: readonly Finding[]): Finding {
  return {
    sources: mergeSources(findings.map(({ sources }) => sources)),
    find(evidence) {
      const several = findings.map(({ find }) => find(evidence));
      return {
        found: several.flatMap(({ found }) => found),
        isComplete: several.every(({ isComplete }) => isComplete),
      };
    },
  };
}

/**
 * Makes a finding complete: what was not examined counts as not found. For sources that not every device lets an app
 * read, and that therefore can only add names.
 */
export function onlyFound({ sources, find }: Finding): Finding {
  return { sources, find: (evidence) => ({ found: find(evidence).found, isComplete: true }) };
}

/** Reduces a finding to its first name, so that all of its names together count as one. */
export function asOne({ sources, find }: Finding): Finding {
  return {
    sources,
    find(evidence) {
      const { found, isComplete } = find(evidence);
      return { found: found.slice(0, 1), isComplete };
    },
  };
}

/**
 * Whether an artefact was found. The field is true if at least one was found, false if none was found and all were
 * examined, and absent otherwise.
 */
export function anyFound(finding: Finding): Judgement {
  return concluding(finding, ({ found, isComplete }) => found.length > 0 || (isComplete ? false : undefined));
}

/** The names that were found. The field is absent unless all artefacts were examined. */
export function namesFound(finding: Finding): Judgement {
  return concluding(finding, namesOf);
}

/** The number of names that were found. The field is absent unless all artefacts were examined. */
export function countFound(finding: Finding): Judgement {
  return concluding(finding, (found) => namesOf(found)?.length);
}

export function concluding({ sources, find }: Finding, conclude: (found: Found) => Value | undefined): Judgement {
  return { sources, judge: (evidence) => conclude(find(evidence)) };
}

function namesOf({ found, isComplete }: Found): readonly string[] | undefined {
  return isComplete ? [...new Set(found)].slice(0, MAX_NAMES).map(shortened) : undefined;
}

/**
 * Cuts a long name, and replaces unpaired surrogates, because `probeData` leaves out a whole list if one of its names
 * is not valid.
 */
function shortened(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).replaceAll(/[\uD800-\uDFFF]/gu, "\uFFFD");
}
