import { Foreign } from "../ui/foreign.tsx";
import { classOf, countOf, type Described, inOrder, inWords, meaningOf, ShareCell } from "./shares.tsx";

type Day = Described["days"][number];

const DAY_MS = 86_400_000;
const STEP = 12;
const HEIGHT = 96;

/** Every day from the first to the last one, also those without events. */
export function everyDay(days: readonly Day[]): readonly (Pick<Day, "day"> & Partial<Day>)[] {
  const [first, last] = [days.at(0), days.at(-1)];
  if (!first || !last) return [];
  const known = new Map(days.map((day) => [day.day, day]));
  const start = Date.parse(first.day);
  return Array.from({ length: Math.round((Date.parse(last.day) - start) / DAY_MS) + 1 }, (_, index) => {
    const day = new Date(start + index * DAY_MS).toISOString().slice(0, 10);
    return known.get(day) ?? { day };
  });
}

/** The states of each day: a picture, and its numbers as a table. */
export function DayTrend({ days }: { readonly days: readonly Day[] }) {
  if (days.length === 0) return null;
  const seen = [...new Set(days.flatMap((day) => day.states.map(({ name }) => name)))];
  const states = inOrder(seen.map((name) => ({ name }))).map(({ name }) => name);
  const values = [...new Set(days.flatMap((day) => day.values.map(({ name }) => name)))];
  return (
    <section aria-labelledby="days">
      <div className="section-head">
        <h2 id="days">By day</h2>
        <span className="quiet">all groups together, in UTC</span>
      </div>
      {states.length === 0 ? (
        <p className="quiet">No day has ten events or more, so there is no trend to show.</p>
      ) : (
        <>
          <Bars days={everyDay(days)} />
          <p className="legend">
            {states.map((name) => (
              <span key={name} title={meaningOf(name)}>
                <span className={`state-key ${classOf(name)}`} aria-hidden="true" />
                <Foreign text={name} />
              </span>
            ))}
            <span>
              <span className="state-key" aria-hidden="true" />
              states under ten events
            </span>
          </p>
        </>
      )}
      <details>
        <summary>The numbers of each day</summary>
        <div className="table-scroll" tabIndex={0} role="region" aria-label="States by day">
          <table className="table group-table">
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col">Events</th>
                {states.map((name) => (
                  <th key={name} scope="col">
                    <Foreign text={name} />
                  </th>
                ))}
                {values.map((name) => (
                  <th key={name} scope="col">
                    value <Foreign text={name} isCode />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map((day) => (
                <tr key={day.day}>
                  <th scope="row" className="numbers">
                    {day.day}
                  </th>
                  <td className="numbers">{countOf(day.events)}</td>
                  {states.map((name) => (
                    <ShareCell key={name} share={day.states.find((one) => one.name === name)} />
                  ))}
                  {values.map((name) => (
                    <ShareCell key={name} share={day.values.find((one) => one.name === name)} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

/** A bar for each day: its height is the number of events, its parts are their states. */
function Bars({ days }: { readonly days: ReturnType<typeof everyDay> }) {
  const most = Math.max(1, ...days.map(({ events }) => events ?? 0));
  const [first, last] = [days.at(0)?.day, days.at(-1)?.day];
  return (
    <figure className="trend-figure">
      <p className="quiet small numbers">at most {most.toLocaleString("en")} events a day</p>
      <svg
        className="trend-bars"
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Events by day and state, from ${first} to ${last}: the table below has the numbers`}
      >
        {days.map((day, index) => (
          <DayBar key={day.day} day={day} x={index * STEP} most={most} />
        ))}
      </svg>
      <figcaption className="quiet small numbers trend-axis">
        <span>{first}</span>
        {last !== first && <span>{last}</span>}
      </figcaption>
    </figure>
  );
}

interface DayBarProps {
  readonly day: ReturnType<typeof everyDay>[number];
  readonly x: number;
  readonly most: number;
}

function DayBar({ day: { day, events = null, states = [] }, x, most }: DayBarProps) {
  const heightOf = (count: number | null): number => (HEIGHT * (count ?? 0)) / most;
  let y = HEIGHT;
  return (
    <g>
      <title>
        {events === null ? `${day}: under 10 events` : `${day}: ${countOf(events)} events, ${inWords(states)}`}
      </title>
      <rect x={x} width={STEP} height={HEIGHT} className="trend-hit" />
      <rect x={x + 1} y={HEIGHT - heightOf(events)} width={STEP - 2} height={heightOf(events)} className="bar" />
      {inOrder(states).map((state) => {
        const height = heightOf(state.events);
        y -= height;
        return (
          <rect
            key={state.name}
            x={x + 1}
            y={y}
            width={STEP - 2}
            height={height}
            className={`bar ${classOf(state.name)}`}
          />
        );
      })}
    </g>
  );
}
