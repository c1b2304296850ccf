/** The sizes of the console's files, compressed as the server sends them. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildConsole } from "../../../packages/console/build.ts";

const KILOBYTE = 1_000;
/** The bundler writes names of files between quotation marks of any kind. */
const STATIC = /(?:from|import)\s*["'`]\.\/([^"'`]+)["'`]/g;
const DYNAMIC = /import\(\s*["'`]\.\/([^"'`]+)["'`]/g;

export interface BundleSizes {
  /** In kilobytes. */
  readonly first: number;
  /** The largest of what a route loads in addition. */
  readonly further: { readonly name: string; readonly size: number };
  readonly css: number;
}

export async function measureBundle(): Promise<BundleSizes> {
  const folder = join(await mkdtemp(join(tmpdir(), "drs-console-")), "console");
  await buildConsole(folder);
  const assets = join(folder, "assets");
  const files = new Map<string, string>();
  for (const name of await readdir(assets)) files.set(name, await readFile(join(assets, name), "utf8"));
  await rm(join(folder, ".."), { recursive: true });

  const sizeOf = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + gzipSync(files.get(name) ?? "", { level: 9 }).length, 0) / KILOBYTE;
  const namesIn = (name: string, pattern: RegExp): string[] =>
    [...(files.get(name) ?? "").matchAll(pattern)].map(([, found = ""]) => found);
  /** A file and all that it imports. */
  const closureOf = (name: string, found = new Set<string>()): ReadonlySet<string> => {
    if (found.has(name)) return found;
    found.add(name);
    for (const imported of namesIn(name, STATIC)) closureOf(imported, found);
    return found;
  };
  const named = (pattern: RegExp): string[] => [...files.keys()].filter((name) => pattern.test(name));
  const first = closureOf(named(/^app-.*\.js$/)[0] ?? "");
  const further = named(/\.js$/)
    .flatMap((name) => namesIn(name, DYNAMIC))
    .map((name) => ({ name, size: sizeOf([...closureOf(name)].filter((one) => !first.has(one))) }))
    .toSorted((a, b) => b.size - a.size);
  return { first: sizeOf(first), further: further[0] ?? { name: "none", size: 0 }, css: sizeOf(named(/\.css$/)) };
}
