import { parseDocument } from "yaml";

const MAX_CHARACTERS = 1_048_576;

/** Reports a problem of a file: the path of the member in the file, and a message. */
export type ReportProblem = (path: string, message: string) => void;
export type Members = Readonly<Record<string, unknown>>;

export type YamlResult =
  | { readonly ok: true; readonly content: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Parses a file that a person reviews (YAML 1.2). A member that occurs twice is a problem. If the file uses an alias,
 * `content` is `undefined`.
 */
export function readYaml(text: string): YamlResult {
  if (text.length > MAX_CHARACTERS)
    return { ok: false, problems: [`the file is larger than ${MAX_CHARACTERS} characters`] };
  const document = parseDocument(text, { uniqueKeys: true, merge: false });
  if (document.errors.length === 0) return { ok: true, content: contentOf(document) };
  // Only the first line of a message is shown, because the rest quotes the file.
  const problems = document.errors.map(({ message }) => message.split("\n")[0]?.replace(/:$/, "") ?? "is not YAML");
  return { ok: false, problems };
}

/** With aliases a small file could expand to a huge one, and a reviewer would overlook its content. */
function contentOf(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

export const isMapping = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function refuseUnknown(members: Members, known: readonly string[], path: string, report: ReportProblem): void {
  for (const name of Object.keys(members)) {
    if (!known.includes(name)) report(`${path}${name}`, `is not a member; known are ${known.join(", ")}`);
  }
}
