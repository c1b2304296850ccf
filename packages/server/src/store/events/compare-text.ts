/** The order of code units, the same in every locale; for `toSorted`. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
