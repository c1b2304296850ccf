/**
 * `npm run guards`: switches off each guard that a marker in the source names, one at a time, in a copy of the tree,
 * and runs the tests that are related to it until one fails. `--only TEXT` takes the guards whose file or rule contains
 * the text, `--part N/M` every guard of a part.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { TEST_FILES } from "../suites/suites.ts";
import { rankTests } from "./rank.ts";
import { type Guard, guardsOf, switchOff } from "./switch-off.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Numbers of test files that run one after the other until a test fails: most guards fail in the first three. */
const ROUNDS = [3, 9, 28];
/** It makes so many kinds of requests that it shares few words with each of their rules. */
const ALL_REJECTIONS = "e2e/rejections/rejections.test.ts";
/** Tests that read the sources notice any change of them. */
const READS_SOURCES = /^tools\/|\/(postgres\/(schema|locks|errors)|errors\/codes|runtime-independence)\.test\.ts$/;

const COPY = `
  git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- | tar --extract --directory="$0"
  mkdir "$0/node_modules" && ln -s "$PWD"/node_modules/{*,.bin} "$0/node_modules" && rm "$0/node_modules/@device-risk-signals"
  cp -a node_modules/@device-risk-signals "$0/node_modules"`;

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, part: { type: "string", default: "1/1" } },
});
const [part = 1, parts = 1] = values.part.split("/").map(Number);
const sources = globSync("packages/*/{src,assembly}/**/*.{ts,sql}", { cwd: ROOT });
const guards = sources
  .filter((path) => !/\.(test|fixture|contract)\.ts$/.test(path))
  .toSorted()
  .flatMap((path) => guardsOf(readFileSync(join(ROOT, path), "utf8")).map((guard) => ({ path, ...guard })))
  .filter(({ path, rule }) => `${path} ${rule}`.includes(values.only))
  .filter((_, index) => index % parts === part - 1);

const copy = mkdtempSync(join(tmpdir(), "drs-guards-"));
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
execFileSync("bash", ["-ec", COPY, copy], { cwd: ROOT });

const tests = globSync(TEST_FILES, { cwd: copy, exclude: ["**/node_modules"] }).filter(
  (file) => !READS_SOURCES.test(file),
);
const rank = rankTests(new Map(tests.map((file) => [file, readFileSync(join(copy, file), "utf8")])));

interface Failure {
  readonly file: string;
  readonly test: string;
}

/** Runs test files until one test fails. A file that can't be loaded is no failure: the change may be no program. */
async function findFailure(files: readonly string[]): Promise<Failure | undefined> {
  const report = join(copy, "report.json");
  writeFileSync(report, '{"testResults":[]}');
  await runGroup(["run", "--bail=1", "--testTimeout=120000", "--reporter=json", `--outputFile=${report}`, ...files]);
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (failed) return { file: relative(copy, name), test: failed.fullName };
  }
  return undefined;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Ends the whole process group, because a failing test may leave servers running that it has started. */
async function runGroup(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", ...args], {
    cwd: copy,
    stdio: "ignore",
    detached: true,
  });
  const end = (): void => void execFileSync("bash", ["-c", `kill -KILL -- -${child.pid} || true`], { stdio: "ignore" });
  process.once("exit", end);
  await once(child, "close");
  process.off("exit", end);
  end();
}

function write(path: string, text: string): void {
  writeFileSync(join(copy, path), text);
  // Tests run the compiled scanner.
  if (path.includes("/assembly/")) execFileSync("npm", ["run", "--silent", "generate:scanner"], { cwd: copy });
}

/** The first test of the files that fails twice with the change, and not without it. */
async function findNoticing(files: readonly string[], { path, text, without }: Change): Promise<string | undefined> {
  write(path, without);
  const failure = await findFailure(files);
  const isAgain = failure && (await findFailure([failure.file]))?.test === failure.test;
  write(path, text);
  if (!failure) return undefined;
  if (isAgain && !(await findFailure([failure.file]))) return `${failure.file} › ${failure.test}`;
  const others = files.filter((file) => file !== failure.file);
  return others.length > 0 ? await findNoticing(others, { path, text, without }) : undefined;
}

interface Change {
  readonly path: string;
  readonly text: string;
  readonly without: string;
}

async function tryGuard({ path, ...guard }: Guard & { readonly path: string }): Promise<string> {
  const text = readFileSync(join(copy, path), "utf8");
  const without = switchOff(text, guard);
  if (without === undefined) return "not tried: the line does not say how to switch it off";
  const ranked = rank(path, guard.rule).toSpliced(3, 0, ALL_REJECTIONS);
  for (const count of ROUNDS) {
    const found = await findNoticing(ranked.splice(0, count), { path, text, without });
    if (found !== undefined) return `passed: ${found}`;
  }
  return "FAILED: no related test fails";
}

const counts = { passed: 0, FAILED: 0, "not tried": 0 };
for (const guard of guards) {
  const outcome = await tryGuard(guard);
  counts[outcome.split(":", 1)[0] as keyof typeof counts]++;
  process.stdout.write(`${guard.path}:${guard.line} ${guard.rule}\n  ${outcome}\n`);
}
process.stdout.write(`${counts.passed} passed, ${counts.FAILED} failed, ${counts["not tried"]} not tried\n`);
process.exitCode = counts.FAILED > 0 || counts.passed === 0 ? 1 : 0;
