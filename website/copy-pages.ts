/**
 * Fills `.pages`, the folder that VitePress reads, with the home page, the Markdown files and their pictures, and the
 * pages about the HTTP interfaces.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openapiPage } from "./openapi-page.ts";
import { COPY_FOLDER, copyOf, HOME, INTERFACES, PAGES, ROOT } from "./pages.ts";

rmSync(COPY_FOLDER, { recursive: true, force: true });
for (const page of PAGES) copyPage(page);
// Front matter is YAML, which includes JSON.
writeFileSync(join(COPY_FOLDER, "index.md"), `---\n${JSON.stringify(HOME)}\n---\n`);
mkdirSync(join(COPY_FOLDER, "public"));
for (const { text, name, document } of INTERFACES) {
  const page = openapiPage(text, `${name}.json`, JSON.parse(readFileSync(join(ROOT, document), "utf8")));
  writeFileSync(join(COPY_FOLDER, `${name}.md`), page);
  cpSync(join(ROOT, document), join(COPY_FOLDER, `public/${name}.json`));
}
cpSync(join(ROOT, "examples/mobile/docs/inspector.png"), join(COPY_FOLDER, "public/inspector.png"));

function copyPage(page: string): void {
  cpSync(join(ROOT, page), join(COPY_FOLDER, copyOf(page)));
  const text = readFileSync(join(ROOT, page), "utf8");
  for (const [, picture = ""] of text.matchAll(/!\[[^\]]*\]\(([^):]+)\)/g)) {
    const path = join(dirname(page), picture);
    cpSync(join(ROOT, path), join(COPY_FOLDER, path));
  }
}
