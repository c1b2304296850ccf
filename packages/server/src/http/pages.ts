/** The pages of the admin listener: files that are read once, and served to anybody, because they hold no data. */
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pathOf } from "./paths.ts";

interface PageFile {
  readonly bytes: Buffer;
  readonly compressed: Buffer;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page that all paths of the pages share; its script shows the one of the path. */
const INDEX = "/index.html";
const ASSETS = "/assets/";

/**
 * No script, style or connection but those of this origin, no form and no frame
 * (https://www.w3.org/TR/CSP3/), and no text becomes markup (https://www.w3.org/TR/trusted-types/).
 */
const POLICY = [
  "default-src 'none'",
  ...["script", "style", "connect", "img", "font"].map((kind) => `${kind}-src 'self'`),
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

const compress = promisify(gzip);

/**
 * Reads the files of a folder that `packages/console/build.ts` has written.
 * @param prefix the path below which a proxy publishes them; empty at the root.
 */
export async function readPages(folder: string, prefix: string): Promise<PageFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(files.map(async (file) => [file.slice(folder.length), await readPage(file, prefix)] as const)),
  );
}

async function readPage(file: string, prefix: string): Promise<PageFile> {
  const content = await readFile(file);
  const isPage = file.endsWith(".html");
  const bytes = isPage ? Buffer.from(content.toString().replaceAll(`"${ASSETS}`, `"${prefix}${ASSETS}`)) : content;
  const headers = {
    ...HEADERS,
    // The name of every other file changes with its content.
    "Cache-Control": isPage ? "no-store" : "public, max-age=31536000, immutable",
    Vary: "Accept-Encoding",
  };
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  return { bytes, compressed: await compress(bytes, { level: 9 }), type, headers };
}

/** Whether a browser asks for a page or one of its files. */
export const isPageRequest = ({ method, headers, url = "/" }: IncomingMessage): boolean =>
  (method === "GET" || method === "HEAD") &&
  (pathOf(url).startsWith(ASSETS) || headers.accept?.includes("text/html") === true);

/** @returns the answer to a page request; `undefined` if there is no such page. */
export function pageFor(pages: PageFiles, { url = "/", headers }: IncomingMessage) {
  const path = pathOf(url);
  const file = pages.get(path.startsWith(ASSETS) ? path : INDEX);
  if (!file) return undefined;
  const isCompressed = /\bgzip\b/.test(headers["accept-encoding"]?.toString() ?? "");
  return {
    status: 200,
    type: file.type,
    headers: { ...file.headers, ...(isCompressed && { "Content-Encoding": "gzip" }) },
    body: isCompressed ? file.compressed : file.bytes,
  };
}
