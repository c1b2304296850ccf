import { key256, type Result } from "../../base/config/values.ts";

/**
 * Reads one key per line: 32 bytes in base64, which are 44 characters. The oldest key comes first. The problem quotes
 * nothing of the text.
 */
export function keysOfText(text: string): Result<readonly Buffer[]> {
  const keys: Buffer[] = [];
  for (const line of text.trim().split("\n")) {
    const key = key256.read(line.trim());
    if ("problem" in key) return key;
    keys.push(key.value);
  }
  return { value: keys };
}
