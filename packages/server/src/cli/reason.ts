import { InvalidArgumentError } from "commander";
import { readSetting } from "../config/config.ts";
import type { Context } from "./context.ts";

const MAX_LENGTH = 1_000;
const MIN_DIFFERENT_CHARACTERS = 4;

/** Returns the reader of a `--reason`, which trims the text. Its exceptions are usage errors: exit code 2. */
export function reasonReader({ environment }: Context): (text: string) => string {
  // Of a value that can't be read, `loadConfig` complains.
  const minLength = readSetting("service.reasonMinLength", environment);
  return (text) => {
    const reason = text.trim();
    if (isReason(reason, minLength)) return reason;
    const different = Math.min(MIN_DIFFERENT_CHARACTERS, minLength);
    throw new InvalidArgumentError(
      `a reason has ${minLength} to ${MAX_LENGTH} characters, ${different} of them different: write what a reader of the audit log must know.`,
    );
  };
}

/** What has no glyph, blanks other than the space, and letters that look like blanks (Hangul fillers, empty Braille). */
const INVISIBLE = /[\p{C}\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u115f\u1160\u3164\uffa0\u2800]/gu;

/** Whether a trimmed text says something: characters are code points; invisible ones do not count. */
function isReason(reason: string, minLength: number): boolean {
  const visible = [...reason.replaceAll(INVISIBLE, "")];
  const different = new Set(visible).size;
  return (
    visible.length >= minLength &&
    different >= Math.min(MIN_DIFFERENT_CHARACTERS, minLength) &&
    [...reason].length <= MAX_LENGTH &&
    !reason.includes("\0")
  );
}
