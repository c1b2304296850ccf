/** Counts of outcomes as a bar: the states also differ by hatching and order, and its name says them in words. */
import { useId } from "react";
import { OUTCOMES } from "../events/outcome.tsx";

export const STATES = ["success", "skipped", "timeout", "error", "omitted"] as const;
export type State = (typeof STATES)[number];
export type Counts = Partial<Readonly<Record<State, number>>>;

const WIDTH = 100;

export const totalOf = (counts: Counts): number => STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);

/** "error 12 % (3), skipped 88 % (22)". */
export const describe = (counts: Counts): string =>
  STATES.filter((state) => counts[state] !== undefined)
    .map((state) => `${wordOf(state)} ${percent(counts[state] ?? 0, totalOf(counts))} (${counts[state]})`)
    .join(", ");

export const wordOf = (state: State): string => OUTCOMES[state === "success" ? "observed" : state].word;

export const percent = (part: number, total: number): string => {
  const share = (100 * part) / total;
  return `${share > 0 && share < 1 ? "<1" : Math.round(share)} %`;
};

export function OutcomeBar({ counts }: { readonly counts: Counts }) {
  const id = useId();
  const total = totalOf(counts);
  let x = 0;
  return (
    <svg
      className="outcome-bar"
      viewBox={`0 0 ${WIDTH} 8`}
      preserveAspectRatio="none"
      role="img"
      aria-label={describe(counts)}
    >
      <defs>
        <pattern id={id} width="4" height="4" patternUnits="userSpaceOnUse">
          <path d="M0 4 4 0" className="hatch" />
        </pattern>
      </defs>
      {STATES.map((state) => {
        const width = (WIDTH * (counts[state] ?? 0)) / total;
        const start = x;
        x += width;
        return (
          width > 0 && (
            <g key={state} className={`outcome-${state === "success" ? "observed" : state}`}>
              <rect x={start} width={width} height="8" className="bar" />
              {(state === "skipped" || state === "omitted") && (
                <rect x={start} width={width} height="8" fill={`url(#${id})`} />
              )}
            </g>
          )
        );
      })}
    </svg>
  );
}
