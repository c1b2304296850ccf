/** Units of a relative time: the name, its milliseconds, and from how many of them on a larger unit is used. */
const UNITS = [
  ["s", 1_000, 60],
  ["min", 60_000, 60],
  ["h", 3_600_000, 48],
  ["d", 86_400_000, Number.POSITIVE_INFINITY],
] as const;

/** A time as people say it, such as `3 min ago` and `in 2 d`. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance < 1_000) return "now";
  const [name, ms] = UNITS.find(([, size, most]) => distance < size * most) ?? UNITS[3];
  const text = `${Math.floor(distance / ms)} ${name}`;
  return at > now ? `in ${text}` : `${text} ago`;
}
