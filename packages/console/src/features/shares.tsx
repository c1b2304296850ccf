import type { Answer } from "@device-risk-signals/admin-api";
import { Foreign, visible } from "../ui/foreign.tsx";

export type Described = Answer<"describeFeature">;
export type Results = Pick<Described["days"][number], "events" | "states" | "values">;
export type Share = Results["states"][number];

/** What a state says, in the words of a reader who did not write the definition. */
const STATES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    observed: "there is a value",
    omitted: "the event says nothing about the fields",
    skipped: "the probe was not run",
    timeout: "the probe did not end in time",
    error: "the probe failed",
    masked: "the purpose does not cover the fields",
    "not-observed": "what the phone sends is no observation",
    departed: "the field is stored as another type",
    mixed: "the fields lack a value for different reasons",
    failed: "the definition gave no result",
    "no-row": "no values of the event may be exported",
    "not-computed": "the event has values, but not of this feature",
    unreadable: "the stored values can't be opened",
  }),
);

export const meaningOf = (state: string): string | undefined => STATES.get(state);

/** States as a reader expects them, with the values first. */
export function inOrder<Named extends Pick<Share, "name">>(states: readonly Named[]): readonly Named[] {
  const order = [...STATES.keys()];
  const rank = ({ name }: Named): number => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  return states.toSorted((one, other) => rank(one) - rank(other));
}

/** The class that gives a state its colour; a text of a client gets none. */
export const classOf = (state: string): string => (STATES.has(state) ? `outcome-${state}` : "");

export const countOf = (events: number | null): string => events?.toLocaleString("en") ?? "under 10";
export const percentOf = (share: number | null): string =>
  share === null ? "too few" : `${Math.round(share * 1_000) / 10} %`;

/** How the groups of observed values are named. */
export const valueHeadOf = ({ unit }: Pick<Described, "unit">): string =>
  `Observed value${unit === null || unit === "none" ? "" : ` (${unit})`}`;

/** A group of numbers is named by its lower bound: it ends where the next group begins. */
export function rangeNameOf(name: string, names: readonly string[], output: Described["output"]): string {
  // A group that is no number, such as "below 10", says itself what it has.
  if ((output !== "count" && output !== "number") || !Number.isFinite(Number(name))) return name;
  const next = names
    .map(Number)
    .filter((bound) => bound > Number(name))
    .toSorted((one, other) => one - other)[0];
  if (next === undefined) return `${name} or more`;
  if (output === "number") return `${name} to below ${next}`;
  return next - Number(name) <= 1 ? name : `${name} to ${next - 1}`;
}

/** "observed 88 %, omitted 12 %"; the numbers of events where they are too few for shares. */
export const inWords = (shares: readonly Share[]): string =>
  shares
    .map(({ name, share, events }) => visible(`${name} ${share === null ? countOf(events) : percentOf(share)}`))
    .join(", ");

const WIDTH = 100;

/**
 * The states of a group as one bar; its name says them in words, and a table next to it has the numbers. What is under
 * ten events stays empty.
 */
export function StateBar({ states }: { readonly states: readonly Share[] }) {
  if (states.every(({ share }) => share === null)) return <span className="quiet">too few for shares</span>;
  let x = 0;
  return (
    <svg
      className="state-bar"
      viewBox={`0 0 ${WIDTH} 8`}
      preserveAspectRatio="none"
      role="img"
      aria-label={inWords(states)}
    >
      {inOrder(states).map(({ name, share }) => {
        const width = WIDTH * (share ?? 0);
        const start = x;
        x += width;
        return <rect key={name} x={start} width={width} height="8" className={`bar ${classOf(name)}`} />;
      })}
    </svg>
  );
}

interface SharesProps {
  readonly head: string;
  readonly shares: readonly Share[];
  /** What a name is shown as, if it is not shown itself. */
  readonly nameOf?: (name: string) => string;
}

/** States or groups of values of one group, one below the other. */
export function Shares({ head, shares, nameOf = (name) => name }: SharesProps) {
  if (shares.length === 0) return null;
  const hasShares = shares.some(({ share }) => share !== null);
  return (
    <table className="table shares">
      <thead>
        <tr>
          <th scope="col">{head}</th>
          {hasShares && <th scope="col">Share</th>}
          <th scope="col">Events</th>
        </tr>
      </thead>
      <tbody>
        {shares.map(({ name, share, events }) => (
          <tr key={name}>
            <th scope="row" title={meaningOf(name)}>
              <Foreign text={nameOf(name)} isCode />
            </th>
            {hasShares && (
              <td>
                {share !== null && <meter value={share} aria-label={`Share of ${visible(name)}`} />}{" "}
                <span className={share === null ? "quiet" : "numbers"}>{percentOf(share)}</span>
              </td>
            )}
            <td className="numbers">{countOf(events)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A share, or the number of events where they are too few for one. */
export const ShareCell = ({ share }: { readonly share: Share | undefined }) => (
  <td className="numbers">
    {share && (share.share === null ? <span className="quiet">{countOf(share.events)}</span> : percentOf(share.share))}
  </td>
);
