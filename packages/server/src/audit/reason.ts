const MAX_LENGTH = 1_000;
const MIN_DIFFERENT_CHARACTERS = 4;

/**
 * Characters without a glyph, blanks other than the space, and letters that look like blanks (Hangul fillers, empty
 * Braille).
 */
const INVISIBLE = /[\p{C}\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u115f\u1160\u3164\uffa0\u2800]/gu;

/**
 * Whether a trimmed text can be a reason. Lengths are counted in code points; invisible ones count for the maximum, but
 * not for the minimum.
 */
export function isReason(reason: string, minLength: number): boolean {
  const visible = [...reason.replaceAll(INVISIBLE, "")];
  const different = new Set(visible).size;
  return (
    visible.length >= minLength &&
    different >= Math.min(MIN_DIFFERENT_CHARACTERS, minLength) &&
    [...reason].length <= MAX_LENGTH &&
    // guard(true): the database and the canonical form of a signed row have no half of a surrogate pair
    reason.isWellFormed() &&
    !reason.includes("\0")
  );
}

/** The rule for reasons, for messages. */
export const reasonRule = (minLength: number): string =>
  `a reason has ${minLength} to ${MAX_LENGTH} characters, ${Math.min(MIN_DIFFERENT_CHARACTERS, minLength)} of them different: ` +
  "write what a reader of the audit log must know.";
