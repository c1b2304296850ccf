/** Maximum length of an account's name in code points, for commands and for every verifier. */
export const MAX_ACCOUNT_LENGTH = 256;

/** The account that a verifier's answer or an operator names; `undefined` if the name can't be that of an account. */
export function accountOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || value.includes("\0") || !value.isWellFormed()) return undefined;
  // A code point has two units at most: a longer text need not be counted.
  const isShort = value.length <= 2 * MAX_ACCOUNT_LENGTH && [...value].length <= MAX_ACCOUNT_LENGTH;
  return isShort ? value : undefined;
}
