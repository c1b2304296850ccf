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

const PROJECT_FILE = "tools/release/project.json";

/** Where the project is published: URLs, and the author as npm writes one. A member is empty until it is known. */
const PROJECT = JSON.parse(readFileSync(join(ROOT, PROJECT_FILE), "utf8")) as Readonly<
  Record<"repository" | "homepage" | "bugs" | "author", string>
>;

/** Says what a release lacks; `undefined` if it lacks nothing. */
export function releaseProblem(): string | undefined {
  const empty = Object.keys(PROJECT).filter((member) => PROJECT[member as keyof typeof PROJECT] === "");
  return empty.length === 0 ? undefined : `a release needs ${empty.join(", ")}: fill them in in ${PROJECT_FILE}.`;
}

/** The manifest for users: without the members for development, and with those of the project that are known. */
export function published(manifest: Manifest): Partial<Manifest> {
  const { repository, ...others } = PROJECT;
  const directory = `packages/${manifest.name.slice(manifest.name.indexOf("/") + 1)}`;
  const ofProject = {
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== "")),
    ...(repository !== "" && { repository: { type: "git", url: repository, directory } }),
  };
  const kept = Object.entries(manifest).filter(([member]) => member !== "devDependencies");
  return { ...Object.fromEntries(kept), ...ofProject };
}

/** All public packages have the same version. */
export const { version: VERSION } = JSON.parse(
  readFileSync(join(ROOT, "packages/contract/package.json"), "utf8"),
) as Manifest;
