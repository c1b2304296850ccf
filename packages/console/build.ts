/**
 * `node build.ts FOLDER`: bundles the pages into a folder, with a page `index.html` and files in `assets` whose names
 * change with their content.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

const SOURCES = join(import.meta.dirname, "src");

async function bundle(): Promise<Map<string, string | Uint8Array>> {
  const build = await rolldown({
    input: { app: join(SOURCES, "main.tsx") },
    platform: "browser",
    tsconfig: false,
    transform: { jsx: "react-jsx", define: { "process.env.NODE_ENV": '"production"' } },
    onLog(level, log, report) {
      // Libraries mark their modules for servers that render React.
      if (log.code === "MODULE_LEVEL_DIRECTIVE") return;
      // A page that another one imports as well would be loaded with the first page.
      report(log.code === "INEFFECTIVE_DYNAMIC_IMPORT" ? "error" : level, log);
    },
  });
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js",
  });
  await build.close();
  return new Map(output.map((file) => [file.fileName, file.type === "chunk" ? file.code : file.source]));
}

/** All style sheets in the order of their paths, in which the layers of `styles/0-layers.css` come first. */
async function styles(): Promise<string> {
  const names = (await readdir(SOURCES, { recursive: true })).filter((name) => name.endsWith(".css")).toSorted();
  const first = names.filter((name) => name.startsWith("styles/"));
  const others = names.filter((name) => !name.startsWith("styles/"));
  return (await Promise.all([...first, ...others].map((name) => readFile(join(SOURCES, name), "utf8")))).join("\n");
}

const withHash = (name: string, text: string, extension: string): string =>
  `assets/${name}-${createHash("sha256").update(text).digest("base64url").slice(0, 8)}.${extension}`;

/** The page that names the files. */
async function page(files: Readonly<Record<string, string>>): Promise<string> {
  const template = await readFile(join(SOURCES, "index.html"), "utf8");
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => files[name] ?? "");
}

/** Writes next to the folder, and then renames, so that no reader finds half of the files. */
export async function buildConsole(folder: string): Promise<void> {
  const files = await bundle();
  const script = [...files.keys()].find((name) => name.startsWith("assets/app-")) ?? "";
  const css = await styles();
  const style = withHash("app", css, "css");
  const svg = await readFile(join(SOURCES, "icon.svg"), "utf8");
  const icon = withHash("icon", svg, "svg");
  files
    .set(style, css)
    .set(icon, svg)
    .set("index.html", await page({ script, style, icon }));
  const unfinished = `${folder}.${process.pid}`;
  for (const [name, content] of files) {
    await mkdir(dirname(join(unfinished, name)), { recursive: true });
    await writeFile(join(unfinished, name), content);
  }
  // Another process may have made the same folder meanwhile.
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
}

const [folder] = process.argv.slice(2);
if (import.meta.main && folder !== undefined) await buildConsole(folder);
