/**
 * `node tools/own-lock/check.ts FOLDER [SUITE]`: installs a folder that has a separate lock file, and runs every script
 * of its manifest, or those of a suite: `SUITE:…`. Ends with one line of counts; the tests of a script `test` (Vitest)
 * are counted one by one.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { countsOf } from "../suite/jest-counts.ts";
import { ProgramRunner } from "../suite/run.ts";
import { Suite } from "../suite/suite.ts";
import { installOnce } from "./install.ts";

const [folder = "", only] = process.argv.slice(2);
const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const name = only ?? basename(folder);
const suite = new Suite(name, (text) => void process.stdout.write(text));
const temporary = mkdtempSync(join(tmpdir(), `drs-${name}-`));
const runner = new ProgramRunner(folder, temporary);
const run = (script: string, ...flags: string[]) => runner.run("npm", ["run", "--silent", script, "--", ...flags]);

try {
  if (await suite.check(`${name}: npm ci`, () => installOnce(folder, runner))) {
    const chosen = Object.keys(scripts).filter((script) => !only || script.startsWith(`${only}:`));
    for (const script of chosen) await checkScript(script);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
process.stdout.write(`${suite.line}\n`);
process.exitCode = suite.failed ? 1 : 0;

async function checkScript(script: string): Promise<void> {
  if (/(^|:)test$/.test(script)) {
    const report = join(temporary, "vitest.json");
    const flags = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    await suite.tests(`${name}: ${script}`, async () => countsOf(await run(script, ...flags), report));
  } else {
    await suite.check(`${name}: ${script}`, async () => {
      const { code, all } = await run(script);
      if (code !== 0) throw new Error(all);
    });
  }
}
