/** Collects the parts of an account export into files, and checks them against the manifest at its end. */
import type { Answer } from "@device-risk-signals/admin-api";
import { base64Bytes } from "./base64.ts";
import { MAX_ZIP_BYTES, MAX_ZIP_ENTRIES, Zip } from "./zip.ts";

type Part = Answer<"exportAccount"> extends AsyncIterable<infer One> ? One : never;
type Manifest = Extract<Part, { readonly manifest: unknown }>["manifest"];

export interface CollectedExport {
  readonly manifest: Manifest;
  /** For the person: all files except the ones that are left out. */
  readonly zip: Blob;
  readonly files: number;
  /** The letter to complete; `undefined` if the export has none. */
  readonly letter: Blob | undefined;
}

const LETTER = "letter.txt";
/** The names that the export can have; a server names no other file. */
const FILE_NAME = /^(?:[a-z0-9-]+\/)?[a-z0-9-]+\.(?:json|ndjson|html|txt)$/;

/**
 * @param leftOut names of files that the person does not get.
 * @throws Error if the export is not whole, or differs from its manifest.
 */
export async function collectExport(
  parts: AsyncIterable<Part>,
  leftOut: readonly string[],
  onFile: (files: number) => void,
): Promise<CollectedExport> {
  const files = new Map<string, Blob[]>();
  for await (const part of parts) {
    if ("manifest" in part) return finish(part.manifest, files, [LETTER, ...leftOut]);
    // guard: a server names no file outside of the export
    if (!FILE_NAME.test(part.file)) throw new Error("The export names a file that it can't have.");
    const known = files.get(part.file);
    const content = "text" in part ? new Blob([part.text]) : new Blob([base64Bytes(part.base64)]);
    if (known) known.push(content);
    else files.set(part.file, [content]);
    onFile(files.size);
  }
  throw new Error("The export ended before its end: export again.");
}

async function finish(
  manifest: Manifest,
  files: ReadonlyMap<string, Blob[]>,
  leftOut: readonly string[],
): Promise<CollectedExport> {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  if (manifest.files.length >= MAX_ZIP_ENTRIES || bytes > MAX_ZIP_BYTES) {
    throw new Error("The export is too large for a browser: an operator writes it with drs account export.");
  }
  const zip = new Zip(new Date(manifest.exported_at));
  let letter: Blob | undefined;
  let count = 0;
  for (const { name, sha256 } of manifest.files) {
    const blob = new Blob(files.get(name) ?? []);
    const content = new Uint8Array(await blob.arrayBuffer());
    // guard: the person gets what the server listed
    if ((await sha256Of(content)) !== sha256)
      throw new Error("A file differs from the list of the export: export again.");
    if (name === LETTER) letter = blob;
    if (leftOut.includes(name)) continue;
    zip.add({ name, content });
    count++;
  }
  zip.add({ name: "manifest.json", content: new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`) });
  return { manifest, zip: zip.finish(), files: count + 1, letter };
}

const sha256Of = async (content: Uint8Array<ArrayBuffer>): Promise<string> =>
  Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", content)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
