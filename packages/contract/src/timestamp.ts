/** An instant on the UTC scale, to the microsecond. */
export interface Instant {
  /** Milliseconds since 1970-01-01T00:00:00Z, rounded down. */
  readonly epochMs: number;
  /** Microseconds after `epochMs`, 0 to 999. */
  readonly micros: number;
}

const RFC3339_DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Reads a date-time of RFC 3339 §5.6 (the profile of ISO 8601 with a mandatory offset).
 * Fractions are truncated to microseconds. A leap second is accepted only at 23:59:60 UTC, and is read as
 * the next second. Returns `undefined` for any other text, such as 30 February.
 */
export function parseDateTime(text: string): Instant | undefined {
  const match = RFC3339_DATE_TIME.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return undefined;

  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A month or day that does not exist rolls over: the year then differs, or the day does.
  if (date.getUTCFullYear() !== year || date.getUTCDate() !== day) return undefined;

  const offset = (match[8] === "-" ? -1 : 1) * (offsetHours * 60 + offsetMinutes);
  const minuteStart = date.getTime() + (hour * 60 + minute - offset) * 60_000;
  if (second === 60 && (((minuteStart / 60_000) % 1440) + 1440) % 1440 !== 1439) return undefined;

  const fraction = (match[7] ?? "").slice(0, 6).padEnd(6, "0");
  return {
    epochMs: minuteStart + second * 1000 + Number(fraction.slice(0, 3)),
    micros: Number(fraction.slice(3)),
  };
}
