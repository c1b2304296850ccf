/** `npm run train-dictionary -- FILE`: trains a zstd dictionary on synthetic events. Needs the `zstd` command. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fullEvent } from "../bench/src/full-event.ts";

const SAMPLES = 3_000;
const FIRST_SEED = 1_000_000;
const BYTES = 65_536;
const COLLECTED_FROM = Date.UTC(2026, 0, 1);
const APART_MS = 977_000;

const [target] = process.argv.slice(2);
if (target === undefined) {
  process.stderr.write("usage: npm run train-dictionary -- FILE\n");
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "drs-dictionary-"));
try {
  for (let index = 0; index < SAMPLES; index++) {
    const event = fullEvent(FIRST_SEED + index, new Date(COLLECTED_FROM + index * APART_MS));
    writeFileSync(join(folder, `${index}.json`), JSON.stringify(event));
  }
  execFileSync("zstd", ["--train", "-q", "-r", folder, `--maxdict=${BYTES}`, "-o", target, "-f"], { stdio: "inherit" });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
