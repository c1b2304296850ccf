import type { Evidence, Presence, Sources, Text } from "../native/native-interface.ts";

/** The value of a field; `undefined` leaves it out, because what it speaks of was not (wholly) looked at. */
export type Value = string | number | boolean | readonly string[] | readonly number[];

/** How a field is concluded from evidence: what must be asked of native code for it, and what that means. */
export interface Judgement {
  readonly sources: Partial<Sources>;
  /** Pure. Evidence has its declared shapes, but its content is hostile: any text, of any length within the bounds. */
  judge(evidence: Evidence): Value | undefined;
}

/** By catalog name. */
export type Judgements = Readonly<Record<string, Judgement>>;

type SourceOf<Shape> = {
  [Source in keyof Evidence]-?: NonNullable<Evidence[Source]> extends Shape ? Source : never;
}[keyof Evidence];

export type ListSource = SourceOf<Presence>;
export type TextSource = SourceOf<Text>;
/** Lists that native code cuts at a bound. */
export type NameSource = SourceOf<readonly string[]>;

/** At this many entries native code stops reading (docs/native-interface.md), so that a list this long is not whole. */
const MOST_NAMES: Readonly<Record<NameSource, number>> = {
  threads: 1_024,
  descriptors: 2_048,
  stack: 256,
  images: 4_096,
};

/** No name that is sent on is longer, and no list of names that evidence makes up has more entries. */
export const LONGEST_NAME = 128;
const MOST_FOUND = 64;

/** Whether all that was asked for was looked at. */
export function complete(presence: Presence, asked: readonly string[]): boolean {
  const seen = new Set([...presence.present, ...presence.absent]);
  return asked.every((name) => seen.has(name));
}

/** Whether one of a list is there: true as soon as one is, false only if all were looked at. */
export function anyPresent(source: ListSource, list: readonly string[]): Judgement {
  return {
    sources: { [source]: list },
    judge({ [source]: presence }) {
      if (!presence) return undefined;
      if (list.some((name) => presence.present.includes(name))) return true;
      return complete(presence, list) ? false : undefined;
    },
  };
}

/** Which of a list are there; absent unless all were looked at. */
export function whichPresent(source: ListSource, list: readonly string[]): Judgement {
  return {
    sources: { [source]: list },
    judge({ [source]: presence }) {
      if (!presence || !complete(presence, list)) return undefined;
      return list.filter((name) => presence.present.includes(name));
    },
  };
}

/** How many entries the list of another field has. */
export function countOf(list: Judgement): Judgement {
  return {
    sources: list.sources,
    judge: (evidence) => (list.judge(evidence) as readonly unknown[] | undefined)?.length,
  };
}

/** Several lists as one, if all are known. */
export function joined(...lists: readonly Judgement[]): Judgement {
  return {
    sources: mergeSources(lists.map(({ sources }) => sources)),
    judge(evidence) {
      const values = lists.map((list) => list.judge(evidence) as readonly string[] | undefined);
      return values.includes(undefined) ? undefined : values.flatMap((value) => value ?? []);
    },
  };
}

/** Whether something is seen in a text; one that was cut off can't say no. */
export function seenInText(source: TextSource, look: (text: Text) => boolean): Judgement {
  return {
    sources: { [source]: true },
    judge({ [source]: text }) {
      if (!text) return undefined;
      return look(text) || (text.truncated ? undefined : false);
    },
  };
}

/** Whether one of a list of names is known; a list that was cut off can't say no. */
export function anyNamed(source: NameSource, isKnown: (name: string) => boolean): Judgement {
  return {
    sources: { [source]: true },
    judge({ [source]: names }) {
      if (!names) return undefined;
      return names.some(isKnown) || (names.length < MOST_NAMES[source] ? false : undefined);
    },
  };
}

/** What a list of names holds of what is known, each once; absent if the list was cut off. */
export function whichNamed(source: NameSource, recognise: (name: string) => string | undefined): Judgement {
  return {
    sources: { [source]: true },
    judge({ [source]: names }) {
      if (!names || names.length >= MOST_NAMES[source]) return undefined;
      const found = new Set<string>();
      for (const name of names) note(found, recognise(name));
      return [...found];
    },
  };
}

/** Notes a name that evidence holds, within bounds. */
export function note(found: Set<string>, name: string | undefined): void {
  if (name !== undefined && found.size < MOST_FOUND) found.add(name.slice(0, LONGEST_NAME));
}

/** True if one of several says so, false if all say no; what is unknown to one is unknown to all, unless another hits. */
export function anyOf(...judgements: readonly Judgement[]): Judgement {
  return {
    sources: mergeSources(judgements.map(({ sources }) => sources)),
    judge(evidence) {
      const values = judgements.map((judgement) => judgement.judge(evidence));
      if (values.includes(true)) return true;
      return values.every((value) => value === false) ? false : undefined;
    },
  };
}

/** Computes once for each object: several fields are concluded from one text of 4 MB. */
export function remember<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const known = new WeakMap<Key, { readonly result: Result }>();
  return (key) => {
    const remembered = known.get(key) ?? { result: compute(key) };
    known.set(key, remembered);
    return remembered.result;
  };
}

/** One request for what several need: lists are joined, each name once. */
export function mergeSources(several: readonly Partial<Sources>[]): Partial<Sources> {
  const merged: Record<string, unknown> = {};
  for (const sources of several) {
    for (const [source, argument] of Object.entries(sources)) {
      const known = merged[source];
      merged[source] =
        Array.isArray(known) && Array.isArray(argument) ? [...new Set([...known, ...argument])] : argument;
    }
  }
  return merged;
}
