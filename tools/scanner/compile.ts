/**
 * `npm run generate:scanner`: compiles the scanner of request bodies to WebAssembly. The same source gives the same bytes
 * on every machine. `--check` compares the bytes with those of the repository, `--root DIR` names another copy of it.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import asc from "assemblyscript/asc";

const SOURCE = "packages/server/assembly/scanner.ts";
const MODULE = "packages/server/src/scanner/scanner.wasm";

/** Pages of 64 KiB: as many as the layout in the source needs. The memory can't grow. */
const PAGES = "8";

const OPTIONS = `--runtime stub --noAssert --enable simd --optimizeLevel 3 --shrinkLevel 0 --converge
  --initialMemory ${PAGES} --maximumMemory ${PAGES}`.split(/\s+/);

async function compile(source: string): Promise<Buffer> {
  let compiled: Buffer | undefined;
  let messages = "";
  const { error } = await asc.main(["scanner.ts", "--outFile", "scanner.wasm", ...OPTIONS], {
    readFile: (name) => (name === "scanner.ts" ? source : null),
    writeFile: (name, contents) => {
      if (name === "scanner.wasm") compiled = Buffer.from(contents);
    },
    listFiles: () => [],
    stderr: { write: (text) => void (messages += String(text)) },
  });
  if (error || !compiled) throw new Error(`the scanner does not compile: ${messages}`, { cause: error });
  return compiled;
}

const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    root: { type: "string", default: join(import.meta.dirname, "../..") },
  },
});
const path = join(values.root, MODULE);
const compiled = await compile(await readFile(join(values.root, SOURCE), "utf8"));
if (!values.check) await writeFile(path, compiled);
else if (!compiled.equals(await readFile(path))) {
  process.stdout.write(`stale ${MODULE}: run \`npm run generate:scanner\`.\n`);
  process.exitCode = 1;
}
