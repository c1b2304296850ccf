/** A range of whole days until now, which the address has as `days`. */
export const DAYS = [1, 7, 30] as const;
export type Days = (typeof DAYS)[number];

export const daysOf = ({ days }: Readonly<Record<string, unknown>>): { days?: Days } => {
  const known = DAYS.find((one) => one === Number(days));
  return known === undefined || known === 7 ? {} : { days: known };
};

const HOUR_MS = 3_600_000;

/** The start of the range, at a full hour, so that a page that is shown again asks for nothing new. */
export const startOf = (days: Days): string =>
  new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - days * 24 * HOUR_MS).toISOString();

interface DaysPickerProps {
  readonly days: Days;
  readonly choose: (days: Days) => void;
}

export const DaysPicker = ({ days, choose }: DaysPickerProps) => (
  <div className="segments" role="group" aria-label="Time">
    {DAYS.map((one) => (
      <button key={one} type="button" aria-pressed={days === one} onClick={() => choose(one)}>
        {one === 1 ? "24 hours" : `${one} days`}
      </button>
    ))}
  </div>
);
