const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** A number of bytes for people: `640 KiB`, `1.5 TiB`. */
export function describeBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1_024 && unit < UNITS.length - 1; unit++) value /= 1_024;
  return `${value >= 100 || unit === 0 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[unit]}`;
}
