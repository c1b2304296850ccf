/** ISO 8601 durations as calendar arithmetic in UTC: months first, then days, then time, as PostgreSQL adds intervals. */

export interface Period {
  readonly months: number;
  readonly days: number;
  readonly seconds: number;
}

const FORM = /^P(?=[\dT])(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const DAY_SECONDS = 86_400;
const MONTH_DAYS = 365.25 / 12;
/** The longest period, a hundred years, because data about a person should not be kept for longer than a life. */
const MAX_PERIOD: Period = { months: 1_200, days: 0, seconds: 0 };
/** Longer periods are not compared on the calendar, because `Date` can't represent the end of a very long one. */
const MAX_DAYS = 100 * 366;

/**
 * @param text such as `P90D`, `P1Y6M`, `P2W`, `PT30S`: whole numbers, not negative.
 * @returns `undefined` if the text has another form, or if the period is empty or longer than a hundred years.
 */
export function parsePeriod(text: string): Period | undefined {
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0));
  const period = {
    months: 12 * years + months,
    days: 7 * weeks + days,
    seconds: 3_600 * hours + 60 * minutes + seconds,
  };
  const about = MONTH_DAYS * period.months + period.days + period.seconds / DAY_SECONDS;
  return about > 0 && about <= MAX_DAYS && endsNoLater(period, MAX_PERIOD) ? period : undefined;
}

/**
 * Adds a period to a time. If the resulting month lacks the day, the result is the last day of the month.
 * @param epochMs milliseconds since the Unix epoch. The result has the same unit.
 */
export function addPeriod(epochMs: number, { months, days, seconds }: Period): number {
  const start = new Date(epochMs);
  const month = start.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(start.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const shifted = new Date(start);
  shifted.setUTCFullYear(start.getUTCFullYear(), month, Math.min(start.getUTCDate(), lastDay));
  return shifted.getTime() + (days * DAY_SECONDS + seconds) * 1_000;
}

const FIRST_DAY = Date.UTC(2024, 0, 1);
const FOUR_YEARS_DAYS = 1_461;

/** Whether the first ends no later than the second, on whichever day of the calendar both begin. */
export function endsNoLater(first: Period, second: Period): boolean {
  for (let day = 0; day < FOUR_YEARS_DAYS; day++) {
    const start = FIRST_DAY + day * DAY_SECONDS * 1_000;
    if (addPeriod(start, first) > addPeriod(start, second)) return false;
  }
  return true;
}
