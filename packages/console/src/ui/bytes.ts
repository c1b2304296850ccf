const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** Such as "1.4 GiB". */
export function bytes(size: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, size)) / 10));
  const value = size / 1024 ** power;
  return `${power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}
