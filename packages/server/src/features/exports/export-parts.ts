/** The file of an export as a stream. */
import { createHash } from "node:crypto";
import type { ExportManifest } from "@device-risk-signals/admin-api";

/** Bytes that are appended to the file, or its manifest at the end. Without a manifest the file is incomplete. */
export type ExportPart<Manifest = ExportManifest> = { readonly bytes: Uint8Array } | { readonly manifest: Manifest };

/** Collects bytes until they are taken, and measures all bytes that were appended. */
export class MeasuredBytes {
  readonly #sha256 = createHash("sha256");
  #bytes = 0;
  #waiting: Uint8Array[] = [];

  append(bytes: Uint8Array): void {
    this.#sha256.update(bytes);
    this.#bytes += bytes.length;
    this.#waiting.push(bytes);
  }

  /** Returns the bytes that were appended since the last call. */
  *take(): Generator<{ readonly bytes: Uint8Array }> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const bytes of waiting) yield { bytes };
  }

  measured(): { readonly sha256: string; readonly bytes: number } {
    return { sha256: this.#sha256.copy().digest("hex"), bytes: this.#bytes };
  }
}
