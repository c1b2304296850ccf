import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

export interface TestRun {
  readonly passed: readonly string[];
  /** Names of tests that ran and failed, each with the first line of its error. */
  readonly failed: readonly { readonly name: string; readonly error: string }[];
}

interface VitestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/** Runs, in a copy of the tree, the tests of one file whose names contain one of the texts. */
export async function runTests(copy: string, file: string, names: readonly string[]): Promise<TestRun> {
  const report = join(copy, "guards-report.json");
  await rm(report, { force: true });
  const pattern = `(${names.map((name) => name.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")).join("|")})`;
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--reporter=json", `--outputFile=${report}`, "-t", pattern, file];
  await runGroup(args, copy);
  const text = await readFile(report, "utf8").catch(() => '{"testResults":[]}');
  const tests = (JSON.parse(text) as VitestReport).testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    passed: tests.flatMap(({ status, fullName }) => (status === "passed" ? [fullName] : [])),
    failed: tests.flatMap(({ status, fullName, failureMessages = [] }) =>
      status === "failed" ? [{ name: fullName, error: failureMessages[0]?.split("\n", 1)[0] ?? "" }] : [],
    ),
  };
}

/** Ends the whole process group, because a failing test may leave servers running that it has started. */
async function runGroup(args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, stdio: "ignore", detached: true });
  const kill = (): void => killGroup(child.pid);
  process.once("exit", kill);
  await once(child, "close");
  process.off("exit", kill);
  kill();
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    // The process group has already ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
