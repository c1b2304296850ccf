import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bundle } from "../manifest.ts";
import { IsolatedProcess } from "../runner/isolated-process.ts";
import { NotStarted } from "../runner/runner.ts";

const LINT = new URL(`../compile/lint-program${extname(import.meta.url)}`, import.meta.url).href;
/** The parser is native code. */
const ARGUMENTS = [
  "--allow-addons",
  "--allow-fs-read=*",
  fileURLToPath(new URL("../sandbox/lint.js", import.meta.url)),
  LINT,
];

/** Time limits of the start, and of all programs together. The lint of a megabyte needs less than a second. */
const START_MS = 10_000;
const LINT_MS = 10_000;

const UNREADABLE = "the lint can't read its program, or not in time: make it smaller, and nest it less deeply";

/**
 * Lints the programs of bundles in a process of its own, because any program may have written them, and some texts end
 * the parser's process or take very long.
 * @param limitMs the time limit for all programs together.
 * @returns what the lint finds. After a program that it can't read, it reads no others.
 * @throws NotStarted
 */
export async function lintBundles(bundles: readonly Bundle[], limitMs = LINT_MS): Promise<readonly string[]> {
  const lint = new IsolatedProcess(ARGUMENTS);
  try {
    if (!(await findingsOf(lint, "", START_MS))) throw new NotStarted("the process of the lint did not start");
    const end = performance.now() + limitMs;
    const problems: string[] = [];
    for (const { id, version, text } of bundles) {
      const findings = await findingsOf(lint, text, end - performance.now());
      problems.push(...(findings ?? [UNREADABLE]).map((finding) => `${id}@${version}: ${finding}`));
      if (!findings) break;
    }
    return problems;
  } finally {
    await lint.kill();
  }
}

async function findingsOf(
  lint: IsolatedProcess,
  text: string,
  deadlineMs: number,
): Promise<readonly string[] | undefined> {
  if (deadlineMs <= 0) return undefined;
  const answer = await lint.ask({ text, deadlineMs }, deadlineMs);
  return (answer as { readonly findings: readonly string[] } | undefined)?.findings;
}
