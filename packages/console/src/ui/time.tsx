/** Each made once: making one takes eight times as long as formatting with it, and the live view shows 200 a second. */
const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const LOCAL_TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** A time in UTC; the local one is next to it, or in the title of a short one. */
export const Time = ({ at, isShort = false }: { readonly at: string; readonly isShort?: boolean }) => {
  const date = new Date(at);
  const utc = utcOf(at);
  return (
    <time dateTime={at} className="numbers" title={`${LOCAL.format(date)} here`}>
      {isShort ? utc.slice(0, 19) : utc}
      {!isShort && <span className="quiet"> UTC, {LOCAL_TIME.format(date)} here</span>}
    </time>
  );
};

/** To the millisecond. */
const utcOf = (at: string): string => at.replace("T", " ").replace(/(\.\d{3})?\d*Z$/, "$1");

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Such as "in 7 hours" and "2 days ago". @param numeric `auto` also gives "yesterday". */
export function relative(at: string, now = Date.now(), numeric: "auto" | "always" = "auto"): string {
  const ms = Date.parse(at) - now;
  const [unit, size] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? (["second", 1_000] as const);
  return new Intl.RelativeTimeFormat("en", { numeric }).format(Math.round(ms / size), unit);
}

/** A span such as "1.2 s", "3 min" and "2 h 5 min". */
export function span(ms: number): string {
  const size = Math.abs(ms);
  if (size < 1_000) return `${Math.round(size)} ms`;
  if (size < 60_000) return `${(size / 1_000).toFixed(1)} s`;
  if (size < 3_600_000) return `${Math.round(size / 60_000)} min`;
  return `${Math.floor(size / 3_600_000)} h ${Math.round((size % 3_600_000) / 60_000)} min`;
}
