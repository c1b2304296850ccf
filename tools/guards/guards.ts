/**
 * `npm run guards`: switches off each guard that a marker in the source names, one at a time, in a copy of the tree,
 * and runs the test that must then fail. It prints a line for each guard and finally `N passed, N failed`. `--only
 * TEXT` runs guards whose file, rule or test contains the text; `--parallel N` runs N guards at a time.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installOnce } from "../own-lock/install-once.ts";
import { ProgramRunner } from "../suite/run.ts";
import { copyTree } from "./copy-tree.ts";
import { findGuards, type Guard, ROOT } from "./find-guards.ts";
import { MarkerInvalid } from "./marker.ts";
import { runTests } from "./run-tests.ts";
import { switchOff } from "./switch-off.ts";

/** Finds guards whose test proves nothing, with the reason: the test fails without any change, or does not exist. */
async function findUnusable(copy: string, guards: readonly Guard[]): Promise<ReadonlyMap<Guard, string>> {
  const unusable = new Map<Guard, string>();
  for (const [file, group] of Map.groupBy(guards, ({ test }) => test.file)) {
    const { passed, failed } = await runTests(copy, file, [...new Set(group.map(({ test }) => test.name))]);
    for (const guard of group) {
      const failing = failed.find(({ name }) => name.includes(guard.test.name));
      if (failing) unusable.set(guard, `the test fails as the tree is: ${failing.error}`);
      else if (!passed.some((name) => name.includes(guard.test.name))) unusable.set(guard, "there is no such test");
    }
  }
  return unusable;
}

interface Outcome {
  readonly isNoticed: boolean;
  /** The error of the failed test, or the reason why no test failed. */
  readonly text: string;
}

async function tryGuard(copy: string, guard: Guard): Promise<Outcome> {
  const path = join(copy, guard.path);
  const original = await readFile(path, "utf8");
  try {
    await writeFile(path, switchOff(original, guard));
    await compile(copy, guard);
    const { failed } = await runTests(copy, guard.test.file, [guard.test.name]);
    return { isNoticed: failed.length > 0, text: failed[0]?.error ?? "no test failed" };
  } catch (error) {
    if (error instanceof MarkerInvalid) return { isNoticed: false, text: error.message };
    throw error;
  } finally {
    await writeFile(path, original);
    await compile(copy, guard);
  }
}

const SCANNER_COMPILER = join(ROOT, "tools/scanner");

/** Compiles the scanner, because the test of its guard runs the compiled module. */
async function compile(copy: string, { path }: Guard): Promise<void> {
  if (!path.startsWith("packages/server/assembly/")) return;
  const runner = new ProgramRunner(SCANNER_COMPILER);
  await installOnce(SCANNER_COMPILER, runner);
  await runner.must(process.execPath, "compile.ts", "--root", copy);
}

async function check(copy: string, guard: Guard, unusable: string | undefined): Promise<boolean> {
  const { isNoticed, text } =
    unusable === undefined ? await tryGuard(copy, guard) : { isNoticed: false, text: unusable };
  const place = `${guard.path}:${guard.line}`;
  process.stdout.write(`${isNoticed ? "passed" : "FAILED"}  ${guard.rule} (${place}): ${text.slice(0, 120)}\n`);
  return isNoticed;
}

async function main(only: string, parallel: number): Promise<number> {
  const guards = await findGuards(only);
  const folder = await mkdtemp(join(tmpdir(), "drs-guards-"));
  try {
    const copies = Array.from({ length: parallel }, (_, index) => join(folder, String(index)));
    for (const copy of copies) await copyTree(ROOT, copy);
    const unusable = await findUnusable(copies[0] ?? folder, guards);
    const waiting = [...guards];
    let passed = 0;
    const work = async (copy: string): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        if (await check(copy, next, unusable.get(next))) passed++;
      }
    };
    await Promise.all(copies.map(work));
    process.stdout.write(`${passed} passed, ${guards.length - passed} failed\n`);
    return passed === guards.length ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, parallel: { type: "string", default: "1" } },
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.exitCode = await main(values.only, Number(values.parallel));
