/**
 * Fills `.pages`, the folder that VitePress reads, with the Markdown files, their pictures, and the page about the HTTP
 * interface.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openapiPage } from "./openapi-page.ts";
import { COPY_FOLDER, copyOf, PAGES, ROOT } from "./pages.ts";

const OPENAPI = join(ROOT, "packages/contract/schema/openapi.json");

rmSync(COPY_FOLDER, { recursive: true, force: true });
for (const page of PAGES) copyPage(page);
writeFileSync(join(COPY_FOLDER, "openapi.md"), openapiPage(JSON.parse(readFileSync(OPENAPI, "utf8"))));
mkdirSync(join(COPY_FOLDER, "public"));
cpSync(OPENAPI, join(COPY_FOLDER, "public/openapi.json"));

function copyPage(page: string): void {
  cpSync(join(ROOT, page), join(COPY_FOLDER, copyOf(page)));
  const text = readFileSync(join(ROOT, page), "utf8");
  for (const [, picture = ""] of text.matchAll(/!\[[^\]]*\]\(([^):]+)\)/g)) {
    const path = join(dirname(page), picture);
    cpSync(join(ROOT, path), join(COPY_FOLDER, path));
  }
}
