const LONGEST_ACCOUNT = 256;

/** An account as a verifier's answer names it; `undefined` where it can't be one. */
export function accountOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > LONGEST_ACCOUNT || value.includes("\0"))
    return undefined;
  return value.isWellFormed() ? value : undefined;
}
