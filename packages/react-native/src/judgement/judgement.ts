import type { Evidence, Presence, Sources } from "../native/native-interface.ts";

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

type ListSource = {
  [Source in keyof Evidence]-?: NonNullable<Evidence[Source]> extends Presence ? Source : never;
}[keyof Evidence];

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
