/** Compares what two versions of a feature read, and how often they had each state and value. */
import type { Described, Results, Share } from "./shares.tsx";

/** How often both versions had one state or group of values. `undefined`: a version can't have it, or never had it. */
export interface SharePair {
  readonly name: string;
  readonly left: Share | undefined;
  readonly right: Share | undefined;
}

const pairsOf = (names: readonly string[], left: readonly Share[], right: readonly Share[]): readonly SharePair[] =>
  names.map((name) => ({
    name,
    left: left.find((one) => one.name === name),
    right: right.find((one) => one.name === name),
  }));

const namesOf = (...lists: readonly (readonly Share[])[]): readonly string[] => [
  ...new Set(lists.flatMap((shares) => shares.map(({ name }) => name))),
];

export const statePairs = (left: Results, right: Results): readonly SharePair[] =>
  pairsOf(namesOf(left.states, right.states), left.states, right.states);

/** The groups of values that both versions have: groups with other bounds are joined until the bounds are the same. */
export function valuePairs(
  left: Results & Pick<Described, "output">,
  right: Results & Pick<Described, "output">,
): readonly SharePair[] {
  const isNumber = ({ output }: Pick<Described, "output">): boolean => output === "count" || output === "number";
  if (!isNumber(left) || !isNumber(right)) {
    return pairsOf(namesOf(left.values, right.values), left.values, right.values);
  }
  const bounds = [...boundsOf(left.values)].filter((bound) => boundsOf(right.values).has(bound)).toSorted(byNumber);
  const [ofLeft, ofRight] = [joined(left.values, bounds), joined(right.values, bounds)];
  return pairsOf(namesOf(ofLeft, ofRight).toSorted(byBound), ofLeft, ofRight);
}

const byNumber = (one: number, other: number): number => one - other;

/** The lower bound of a group such as `2`; `undefined` for the values below the first bound. */
const boundOf = (name: string): number | undefined => (/^-?[\d.]+(e[+-]?\d+)?$/.test(name) ? Number(name) : undefined);

const boundsOf = (shares: readonly Share[]): ReadonlySet<number> =>
  new Set(shares.flatMap(({ name }) => boundOf(name) ?? []));

const byBound = (one: string, other: string): number =>
  (boundOf(one) ?? Number.NEGATIVE_INFINITY) - (boundOf(other) ?? Number.NEGATIVE_INFINITY);

/** Joins groups, so that each begins with one of the bounds. A sum with a number that is not shown is one, too. */
function joined(shares: readonly Share[], bounds: readonly number[]): readonly Share[] {
  const groups = Map.groupBy(shares, ({ name }) => {
    const bound = boundOf(name);
    const common = bound === undefined ? undefined : bounds.findLast((one) => one <= bound);
    return common === undefined ? `below ${bounds[0] ?? ""}`.trim() : String(common);
  });
  return [...groups].map(([name, of]) => {
    if (of.length === 1 && of[0]) return { ...of[0], name };
    return { name, events: sumOf(of.map(({ events }) => events)), share: sumOf(of.map(({ share }) => share)) };
  });
}

/** The sum of the numbers that are shown; `null` if none is. */
function sumOf(numbers: readonly (number | null)[]): number | null {
  const shown = numbers.filter((number) => number !== null);
  return shown.length === 0 ? null : shown.reduce((sum, number) => sum + number, 0);
}

/** The difference of the shares, from -1 to 1; `undefined` where they are of too few events. */
export function differenceOf({ left, right }: SharePair): number | undefined {
  const [before, after] = [shareOf(left), shareOf(right)];
  return before === undefined || after === undefined ? undefined : after - before;
}

/** A state that a version never had has the share 0. */
const shareOf = (share: Share | undefined): number | undefined =>
  share === undefined ? 0 : (share.share ?? undefined);

/** The largest differences first, then the pairs that can't be compared. */
export const byDifference = (pairs: readonly SharePair[]): readonly SharePair[] =>
  pairs.toSorted((one, other) => sizeOf(other) - sizeOf(one));

function sizeOf(pair: SharePair): number {
  const difference = differenceOf(pair);
  return difference === undefined ? -1 : Math.abs(difference);
}

/** What the definitions differ in, as sentences. */
export function definitionDifferences(left: Described, right: Described): readonly string[] {
  const [before, after] = [fieldsOf(left), fieldsOf(right)];
  const added = [...after].filter((field) => !before.has(field));
  const removed = [...before].filter((field) => !after.has(field));
  return [
    ...added.map((field) => `reads ${field} in addition`),
    ...removed.map((field) => `no longer reads ${field}`),
    ...(left.output === right.output ? [] : [`gives a ${right.output} and no ${left.output}`]),
    ...(left.unit === right.unit ? [] : [`has the unit ${right.unit ?? "none"} and not ${left.unit ?? "none"}`]),
    ...(left.meaning === right.meaning ? [] : [`means: ${right.meaning}`]),
    ...(left.hash === right.hash ? [] : ["has another program, or other inputs or outputs"]),
  ];
}

const fieldsOf = ({ inputs }: Described): ReadonlySet<string> => new Set(inputs.map(({ field }) => field));
