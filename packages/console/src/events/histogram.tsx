import type { Answer } from "@device-risk-signals/admin-api";
import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, type PointerEvent, type RefObject, useCallback, useRef, useState } from "react";
import { useRead } from "../app/api.ts";
import { Failure } from "../ui/failure.tsx";
import { Time } from "../ui/time.tsx";
import { inputOf, type Search } from "./search.ts";

const BARS = 48;
const HEIGHT = 100;
/** The bars' share of the width of a bucket. */
const WIDTH = 0.8;

type Counts = Answer<"countEvents">["counts"];
type Count = Counts[number];

interface HistogramProps {
  readonly search: Search;
  readonly zoom: (range: { readonly from: string; readonly to: string }) => void;
}

/** When the events of a search were received. A part of the time can be chosen by pointer and by keyboard. */
export function Histogram({ search, zoom }: HistogramProps) {
  const { data, error, refetch } = useRead("countEvents", { ...inputOf(search), buckets: BARS });
  // Other bars take the place of the focused ones.
  const hasKeys = useRef(false);
  if (error) return <Failure error={error} what="The events could not be counted" again={() => void refetch()} />;
  if (!data) return <div className="histogram-space" />;
  const { counts } = data;
  if (counts.every(({ events, more }) => events === 0 && !more)) return null;
  return (
    <section className="histogram" aria-label="When they were received">
      <Bars key={counts[0]?.from} counts={counts} zoom={zoom} hasKeys={hasKeys} />
      <details>
        <summary>The numbers as a table</summary>
        <Numbers counts={counts} search={search} />
      </details>
    </section>
  );
}

interface Brush {
  readonly anchor: number;
  readonly end: number;
}

const rangeOf = ({ anchor, end }: Brush): readonly [first: number, last: number] => [
  Math.min(anchor, end),
  Math.max(anchor, end),
];

const optionOf = (index: number): string => `bar-${index}`;

interface BarsProps extends Pick<HistogramProps, "zoom"> {
  readonly counts: Counts;
  /** Whether a key chose these bars, so that they take the focus. */
  readonly hasKeys: RefObject<boolean>;
}

function Bars({ counts, zoom, hasKeys }: BarsProps) {
  const [brush, setBrush] = useState<Brush>();
  const [isDragging, setDragging] = useState(false);
  const [pointed, setPointed] = useState<number>();
  const lastIndex = counts.length - 1;
  const max = Math.max(...counts.map(({ events }) => events), 1);
  const zoomTo = (chosen: Brush): void => {
    const [first, last] = rangeOf(chosen).map((index) => counts[index]);
    setBrush(undefined);
    setDragging(false);
    if (first && last) zoom({ from: first.from, to: last.to });
  };
  const indexAt = ({ clientX, currentTarget }: PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(lastIndex, Math.max(0, Math.floor(((clientX - left) / width) * counts.length)));
  };
  const press = (event: KeyboardEvent): void => {
    // The first arrow enters the bars from its side.
    const [left, right] = brush ? [brush.end - 1, brush.end + 1] : [lastIndex, 0];
    const to = { ArrowLeft: left, ArrowRight: right, Home: 0, End: lastIndex }[event.key];
    if (to !== undefined) {
      const next = Math.min(lastIndex, Math.max(0, to));
      setBrush({ anchor: event.shiftKey && brush ? brush.anchor : next, end: next });
    } else if (event.key === "Escape") setBrush(undefined);
    else if ((event.key === "Enter" || event.key === " ") && brush) {
      hasKeys.current = true;
      zoomTo(brush);
    } else return;
    event.preventDefault();
  };
  const takeFocus = useCallback(
    (bars: HTMLDivElement | null) => {
      if (!bars || !hasKeys.current) return;
      hasKeys.current = false;
      bars.focus();
    },
    [hasKeys],
  );
  const [first = -1, last = -1] = brush ? rangeOf(brush) : [];
  const chosen = brush ? sumOf(counts.slice(first, last + 1)) : counts[pointed ?? -1];
  return (
    <>
      <div
        ref={takeFocus}
        className="histogram-bars"
        role="listbox"
        tabIndex={0}
        aria-multiselectable="true"
        aria-orientation="horizontal"
        aria-label="Events by time. Arrow keys move, Shift extends, Enter zooms."
        aria-activedescendant={brush && optionOf(brush.end)}
        onKeyDown={press}
        onBlur={() => !isDragging && setBrush(undefined)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const index = indexAt(event);
          setDragging(true);
          setBrush({ anchor: index, end: index });
        }}
        onPointerMove={(event) => {
          const index = indexAt(event);
          setPointed(index);
          if (isDragging && brush) setBrush({ anchor: brush.anchor, end: index });
        }}
        onPointerUp={() => isDragging && brush && zoomTo(brush)}
        onPointerCancel={() => (setDragging(false), setBrush(undefined))}
        onPointerLeave={() => setPointed(undefined)}
      >
        <svg role="none" viewBox={`0 0 ${counts.length} ${HEIGHT}`} preserveAspectRatio="none">
          {counts.map((count, index) => (
            <g
              key={count.from}
              id={optionOf(index)}
              role="option"
              aria-selected={index >= first && index <= last}
              aria-label={describe(count)}
            >
              <rect className="bar-space" x={index} y={0} width={1} height={HEIGHT} />
              <Bar count={count} x={index + (1 - WIDTH) / 2} height={(count.events / max) * HEIGHT} />
            </g>
          ))}
        </svg>
      </div>
      <p className="histogram-axis quiet" aria-hidden="true">
        <Time at={counts[0]?.from ?? ""} isShort />
        <Time at={counts.at(-1)?.to ?? ""} isShort />
      </p>
      <p className="quiet small numbers">{chosen ? describe(chosen) : <Words counts={counts} />}</p>
    </>
  );
}

/** A bar that has more than it shows is broken near its top. One that was not counted is an outline. */
function Bar({
  count: { events, more },
  x,
  height,
}: {
  readonly count: Count;
  readonly x: number;
  readonly height: number;
}) {
  if (more && events === 0) return <rect className="bar uncounted" x={x} y={1} width={WIDTH} height={HEIGHT - 2} />;
  const y = HEIGHT - height;
  if (!more) return <rect className="bar" x={x} y={y} width={WIDTH} height={height} />;
  const cap = height / 10;
  return (
    <>
      <rect className="bar" x={x} y={y} width={WIDTH} height={cap} />
      <rect className="bar" x={x} y={y + 2 * cap} width={WIDTH} height={height - 2 * cap} />
    </>
  );
}

/** The events of bars next to each other. */
function sumOf(counts: Counts): Count | undefined {
  const [first, last] = [counts[0], counts.at(-1)];
  if (!first || !last) return undefined;
  const events = counts.reduce((sum, one) => sum + one.events, 0);
  return { from: first.from, to: last.to, events, more: counts.some(({ more }) => more) };
}

export const eventsIn = ({ events, more }: Pick<Count, "events" | "more">): string =>
  `${events.toLocaleString("en")}${more ? "+" : ""} ${events === 1 && !more ? "event" : "events"}`;

const utcOf = (at: string): string => at.slice(0, 19).replace("T", " ");

/** The day is said once if both times are on it. */
function describe(count: Count): string {
  const [from, to] = [utcOf(count.from), utcOf(count.to)];
  return `${from} to ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}: ${eventsIn(count)}`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

function lengthOf({ from, to }: Count): string {
  const ms = Date.parse(to) - Date.parse(from);
  const [unit, size] = UNITS.find(([, one]) => ms >= one && ms % one === 0) ?? ["second", 1_000];
  const number = Math.round(ms / size);
  return number === 1 ? `a ${unit}`.replace("a hour", "an hour") : `${number} ${unit}s`;
}

/** What the bars mean, in words. */
function Words({ counts }: { readonly counts: Counts }) {
  // The first and the last bar may be shorter.
  const whole = counts[Math.floor(counts.length / 2)];
  const highest = Math.max(...counts.map(({ events }) => events));
  return (
    <>
      {whole && counts.length > 2 && `A bar is ${lengthOf(whole)}. `}The highest has {highest.toLocaleString("en")}
      {highest === 1 ? " event" : " events"}.
      {counts.some(({ events, more }) => more && events === highest) &&
        " A broken bar has more: the count stops there."}
      {counts.some(({ events, more }) => more && events < highest) &&
        " The count took too long for the oldest bars: add an account, an action or a shorter time."}{" "}
      Drag to zoom, or use the arrow keys, Shift and Enter.
    </>
  );
}

const Numbers = ({ counts, search }: { readonly counts: Counts; readonly search: Search }) => (
  <div className="table-scroll histogram-numbers" tabIndex={0} role="region" aria-label="Numbers of events by time">
    <table className="table">
      <thead>
        <tr>
          <th scope="col">From, UTC</th>
          <th scope="col">Until</th>
          <th scope="col">Events</th>
        </tr>
      </thead>
      <tbody>
        {counts.map((count) => (
          <tr key={count.from}>
            <th scope="row">
              <Link to="/events" search={{ ...search, from: count.from, to: count.to }}>
                <Time at={count.from} isShort />
              </Link>
            </th>
            <td>
              <Time at={count.to} isShort />
            </td>
            <td className="numbers">{eventsIn(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
