import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: unknown;
  readonly [member: string]: unknown;
}

/** The manifest for users, without the members for development. */
export function published(manifest: Manifest): Partial<Manifest> {
  return Object.fromEntries(Object.entries(manifest).filter(([member]) => member !== "devDependencies"));
}

/** All public packages have the same version. */
export const { version: VERSION } = JSON.parse(
  readFileSync(join(ROOT, "packages/contract/package.json"), "utf8"),
) as Manifest;
