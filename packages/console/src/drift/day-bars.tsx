import type { DayCount } from "./adoption.ts";

const STEP = 8;
const HEIGHT = 32;

/** Events by day as bars; its name says the first, the last and the largest day. */
export function DayBars({ days }: { readonly days: readonly DayCount[] }) {
  const most = Math.max(1, ...days.map(({ events }) => events));
  const [first, last] = [days.find(({ events }) => events > 0), days.findLast(({ events }) => events > 0)];
  return (
    <svg
      className="day-bars"
      viewBox={`0 0 ${Math.max(1, days.length) * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={
        first && last
          ? `${first.events} events on ${first.day}, ${last.events} on ${last.day}, at most ${most} on one of ${days.length} days`
          : "no events"
      }
    >
      {days.map(({ day, events }, index) => {
        // A day with one event is seen next to one with thousands.
        const height = events === 0 ? 0 : Math.max(2, (HEIGHT * events) / most);
        return (
          <g key={day}>
            <title>{`${day}: ${events.toLocaleString("en")} events`}</title>
            <rect x={index * STEP} width={STEP} height={HEIGHT} className="trend-hit" />
            <rect x={index * STEP + 1} y={HEIGHT - height} width={STEP - 2} height={height} className="day-bar" />
          </g>
        );
      })}
    </svg>
  );
}
