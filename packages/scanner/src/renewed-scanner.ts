/** After this number of errors the scanner is no longer used. */
const MAX_FAILURES = 8;

/** Runs `work` with a scanner. @returns `undefined` after an error, and if no scanner can be opened. Never throws. */
export type WithScanner<Scanner> = <Result>(work: (scanner: Scanner) => Result) => Result | undefined;

/**
 * Discards a scanner after an error, which may have left its memory in any state.
 * @param open makes a scanner. It is called again after an error.
 */
export function renewedScanner<Scanner>(
  open: () => Scanner,
  onFailure: (error: unknown) => void,
): WithScanner<Scanner> {
  let failures = 0;
  let scanner: Scanner | undefined;
  return (work) => {
    if (failures === MAX_FAILURES) return undefined;
    try {
      scanner ??= open();
      return work(scanner);
    } catch (error) {
      // A runtime without SIMD will not have it later.
      failures = scanner ? failures + 1 : MAX_FAILURES;
      scanner = undefined;
      onFailure(error);
      return undefined;
    }
  };
}
