import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const PROJECT_FILE = "tools/release/project.json";

const readJson = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, file), "utf8"));

export const manifestOf = (name: string): Manifest => readJson(`packages/${name}/package.json`) as Manifest;

/** All public packages have the same version. */
export const { version: VERSION } = manifestOf("contract");

/** Where the project is published: URLs, and the author as npm writes one. A member is empty until it is known. */
const PROJECT = readJson(PROJECT_FILE) as Readonly<Record<"repository" | "homepage" | "bugs" | "author", string>>;

/** Says what a release lacks; `undefined` if it lacks nothing. */
export function releaseProblem(): string | undefined {
  const empty = Object.entries(PROJECT).flatMap(([member, value]) => (value === "" ? member : []));
  return empty.length === 0 ? undefined : `a release needs ${empty.join(", ")}: fill them in in ${PROJECT_FILE}.`;
}

/** The manifest for users: without the members for development, and with those of the project that are known. */
export function published(name: string): Partial<Manifest> {
  const { devDependencies: _, ...manifest } = manifestOf(name);
  const { repository, ...others } = PROJECT;
  return {
    ...manifest,
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== "")),
    ...(repository !== "" && { repository: { type: "git", url: repository, directory: `packages/${name}` } }),
  };
}

/** The exports with other values for entries that are TypeScript. */
export const mapExports = ({ exports }: Manifest, map: (entry: string, file: string) => object): object =>
  Object.fromEntries(
    Object.entries(exports).map(([entry, file]) => [entry, file.endsWith(".ts") ? map(entry, file) : file]),
  );

/** Copies a file or folder, if the package has it, without what is only for development. */
export function copyPublished(source: string, target: string, file: string, others = /^$/): void {
  if (!existsSync(join(source, file))) return;
  mkdirSync(dirname(join(target, file)), { recursive: true });
  const development = /\.(test|fixture|test-d)\.[a-z]+$|\/(build|src\/test)(\/|$)/;
  cpSync(join(source, file), join(target, file), {
    recursive: true,
    filter: (path) => !development.test(`/${relative(source, path)}`) && !others.test(path),
  });
}
