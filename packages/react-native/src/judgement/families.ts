import { demand, type Guards } from "./guards.ts";

/** Libraries of one origin, by the beginning of their names without `lib`. */
export interface Family {
  readonly name: string;
  /** Whether names go on after `-` or `_`: `frida-agent-64.so`. `libsubstrate_x.so` is an ordinary library. */
  readonly continues: boolean;
}

export function families(whole: string, continuing: string): readonly Family[] {
  return [
    ...whole.split(" ").map((name) => ({ name, continues: false })),
    ...continuing.split(" ").map((name) => ({ name, continues: true })),
  ];
}

interface Place {
  readonly before: string;
  readonly after: string;
  readonly continues: boolean;
}

/** Whether a base name is of one of the families: never by a part of a word, as `friday.so` or `libmyfrida.so`. */
export function isOfFamily(known: readonly Family[], guards: Guards): (name: string) => boolean {
  const begins = demand(guards, "library-names-begin", ({ before }: Place) => before === "" || before === "lib");
  const ends = demand(guards, "library-names-end", ({ after, continues }: Place) =>
    (continues ? /^([-_.]|$)/ : /^(\.|$)/).test(after),
  );
  return (name) =>
    known.some(({ name: family, continues }) => {
      const at = name.indexOf(family);
      const place = { before: name.slice(0, at), after: name.slice(at + family.length), continues };
      return at >= 0 && begins(place) && ends(place);
    });
}
