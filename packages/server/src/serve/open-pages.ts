import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { access, readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { type PageFiles, readPages } from "../http/pages.ts";

/** The pages that a packed server carries. */
const PACKED = join(import.meta.dirname, "../../console");
/** The packages of a checkout. */
const PACKAGES = join(import.meta.dirname, "../../..");
/** The pages of each state of their sources, by its hash. */
const BUILDS = join(PACKAGES, "console/build");
/** What the pages are made of. */
const SOURCES = ["console", "contract/src", "admin-api/src"];
const BUILD_WITHIN_MS = 60_000;

const run = promisify(execFile);

/**
 * A packed server reads its pages at once, because an upgrade may replace them while it runs. In a checkout they are
 * bundled when a browser first asks for them, if their sources have changed.
 */
export function openPages(logger: Logger, prefix: string): () => Promise<PageFiles | undefined> {
  let pages: Promise<PageFiles | undefined> | undefined = existsSync(PACKED) ? readPages(PACKED, prefix) : undefined;
  pages?.catch(() => {});
  return () => (pages ??= bundledPages(logger, prefix));
}

/** @returns `undefined`, with a warning in the log, if they can't be bundled: the admin API works without them. */
async function bundledPages(logger: Logger, prefix: string): Promise<PageFiles | undefined> {
  try {
    const folder = join(BUILDS, await hashOfSources());
    const isBuilt = await access(folder).then(
      () => true,
      () => false,
    );
    // In a process of its own, because the bundler keeps much memory.
    const build = join(PACKAGES, "console/build.ts");
    if (!isBuilt) await run(process.execPath, [build, folder], { timeout: BUILD_WITHIN_MS });
    const pages = await readPages(folder, prefix);
    if (!isBuilt) await removeOlder(folder);
    return pages;
  } catch (error) {
    logger.warn({ err: error }, "the console can't be bundled: run npm ci, or set DRS_CONSOLE=off");
    return undefined;
  }
}

/** A running server has its own pages in memory. */
async function removeOlder(folder: string): Promise<void> {
  for (const name of await readdir(BUILDS)) {
    if (!name.startsWith(basename(folder))) await rm(join(BUILDS, name), { recursive: true, force: true });
  }
}

async function hashOfSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const source of SOURCES) {
    const names = await readdir(join(PACKAGES, source), { recursive: true, withFileTypes: true });
    const files = names
      .filter((entry) => entry.isFile() && /\.(ts|tsx|css|html|svg|json)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !file.includes("/node_modules/") && !file.startsWith(join(PACKAGES, "console/build/")));
    for (const file of files.toSorted())
      hash
        .update(file.slice(PACKAGES.length))
        .update("\0")
        .update(await readFile(file));
  }
  return hash.digest("hex").slice(0, 16);
}
