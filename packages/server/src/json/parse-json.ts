import { readJson, TextError } from "./read-json.ts";
import { scanText } from "./scan-text.ts";

/**
 * Parses a JSON text in UTF-8. `JSON.parse` may read a name with an escape as a name of an earlier text, so such a text
 * is read member by member.
 * @throws SyntaxError
 */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  // guard(false): a name with an escape is read as it is
  // fails: packages/server/src/features/parse-event.test.ts › is not replaced by a name
  const value = scanText(bytes).escapes ? readJson(text) : JSON.parse(text);
  if (value instanceof TextError) throw new SyntaxError("a name is not valid in I-JSON");
  return value;
}
