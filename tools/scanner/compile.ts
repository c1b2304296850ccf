/**
 * `npm run generate:scanner`: compiles the server's AssemblyScript to WebAssembly: the scanner of request bodies, and
 * the encoder of names. The same source gives the same bytes on every machine. `--check` compares the bytes with the
 * committed ones.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import asc from "assemblyscript/asc";

interface Module {
  readonly source: string;
  readonly module: string;
  /** Number of pages of 64 KiB that the layout in the source needs. The memory can't grow. */
  readonly pages: number;
}

const MODULES: readonly Module[] = [
  { source: "scanner.ts", module: "ingest/scanner/scanner.wasm", pages: 8 },
  { source: "tokens.ts", module: "store/crypto/tokens.wasm", pages: 10 },
];

async function compile({ source, pages }: Module, text: string): Promise<Buffer> {
  const options = `--runtime stub --noAssert --enable simd --optimizeLevel 3 --shrinkLevel 0 --converge
    --initialMemory ${pages} --maximumMemory ${pages}`.split(/\s+/);
  let compiled: Buffer | undefined;
  let messages = "";
  const { error } = await asc.main([source, "--outFile", "compiled.wasm", ...options], {
    readFile: (name) => (name === source ? text : null),
    writeFile: (name, contents) => {
      if (name === "compiled.wasm") compiled = Buffer.from(contents);
    },
    listFiles: () => [],
    stderr: { write: (message) => void (messages += String(message)) },
  });
  if (error || !compiled) throw new Error(`${source} does not compile: ${messages}`, { cause: error });
  return compiled;
}

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const server = join(import.meta.dirname, "../../packages/server");
for (const module of MODULES) {
  const path = join(server, "src", module.module);
  const compiled = await compile(module, await readFile(join(server, "assembly", module.source), "utf8"));
  if (!values.check) await writeFile(path, compiled);
  else if (!compiled.equals(await readFile(path))) {
    process.stdout.write(`stale ${path}: run \`npm run generate:scanner\`.\n`);
    process.exitCode = 1;
  }
}
