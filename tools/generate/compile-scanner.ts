import { readFile } from "node:fs/promises";
import { join } from "node:path";
import asc from "assemblyscript/asc";

export const SCANNER_SOURCE = "packages/server/assembly/scanner.ts";
export const SCANNER_MODULE = "packages/server/src/scanner/scanner.wasm";

/** Pages of 64 KiB: as many as the layout in the source needs. The memory can't grow. */
const PAGES = "8";

const OPTIONS = `--runtime stub --noAssert --enable simd --optimizeLevel 3 --shrinkLevel 0 --converge
  --initialMemory ${PAGES} --maximumMemory ${PAGES}`.split(/\s+/);

/** Compiles the scanner: the same source gives the same bytes on every machine. */
export async function compileScanner(root: string): Promise<Buffer> {
  const source = await readFile(join(root, SCANNER_SOURCE), "utf8");
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
