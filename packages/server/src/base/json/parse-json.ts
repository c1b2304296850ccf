import { readJson, TextError } from "./read-json.ts";
import { scanText } from "./scan-text.ts";

/**
 * Parses a JSON text in UTF-8. A text that may have an escape in a name is read member by member, because `JSON.parse`
 * may confuse such a name with a name of an earlier text.
 * @throws SyntaxError
 */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  // guard(false): a name with an escape is read as it is
  const value = scanText(bytes).escapes ? readJson(text) : JSON.parse(text);
  if (value instanceof TextError) throw new SyntaxError("a name is not valid in I-JSON");
  return value;
}
