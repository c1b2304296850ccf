import type { DayCount } from "./adoption.ts";

const STEP = 8;
const HEIGHT = 32;

interface DayBarsProps {
  readonly days: readonly DayCount[];
  /** Whether it is one of many in a list, and says no single day. */
  readonly isShort?: boolean;
}

/** Events by day as bars; its name says the first, the last and the largest day. */
export function DayBars({ days, isShort = false }: DayBarsProps) {
  const most = Math.max(1, ...days.map(({ events }) => events));
  return (
    <svg
      className="day-bars"
      viewBox={`0 0 ${Math.max(1, days.length) * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={inWords(days, most)}
    >
      {!isShort &&
        days.map(({ day, events }, index) => (
          <rect key={day} x={index * STEP} width={STEP} height={HEIGHT} className="trend-hit">
            <title>{`${day}: ${events.toLocaleString("en")} events`}</title>
          </rect>
        ))}
      <path d={days.map(({ events }, index) => barOf(events / most, index * STEP)).join("")} className="day-bar" />
    </svg>
  );
}

/** A day with one event is seen next to one with thousands. */
const barOf = (share: number, x: number): string =>
  share === 0 ? "" : `M${x + 1} ${HEIGHT}v-${Math.max(2, HEIGHT * share)}h${STEP - 2}V${HEIGHT}z`;

function inWords(days: readonly DayCount[], most: number): string {
  const [first, last] = [days.find(({ events }) => events > 0), days.findLast(({ events }) => events > 0)];
  if (!first || !last) return "no events";
  return `${first.events} events on ${first.day}, ${last.events} on ${last.day}, at most ${most} on one of ${days.length} days`;
}
