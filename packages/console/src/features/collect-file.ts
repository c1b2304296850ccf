/** Collects the file of an export, and checks it against the manifest at its end. */
import type { Answer } from "@device-risk-signals/admin-api";
import { base64Bytes } from "../privacy/base64.ts";

type Part = Answer<"exportFeatures"> extends AsyncIterable<infer One> ? One : never;
export type Manifest = Extract<Part, { readonly manifest: unknown }>["manifest"];

export interface CollectedFile {
  readonly manifest: Manifest;
  readonly file: Blob;
}

/** @throws Error if the file is not whole, or differs from its manifest. */
export async function collectFile(
  parts: AsyncIterable<Part>,
  onBytes: (bytes: number) => void,
): Promise<CollectedFile> {
  const content: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of parts) {
    if ("manifest" in part) return requireWhole(part.manifest, new Blob(content));
    const bytes = base64Bytes(part.base64);
    content.push(bytes);
    onBytes((size += bytes.length));
  }
  throw new Error("The export ended before its end: repeat it with drs export repeat.");
}

async function requireWhole(manifest: Manifest, file: Blob): Promise<CollectedFile> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  const sha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  // guard: the recipient gets what the server recorded
  if (sha256 !== manifest.file.sha256) throw new Error("The file differs from its record: export again.");
  return { manifest, file };
}
