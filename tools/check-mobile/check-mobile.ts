/**
 * `npm run check:mobile`: checks the SDK as its users receive it. The check packs the packages, installs the tarballs
 * into the example and into an app made from React Native's own template, and makes a new Expo app with the packages of
 * the example. It checks the results of Metro, Hermes, TypeScript, Jest, autolinking, `expo prebuild` and `doctor`, and
 * ends with one line of counts.
 *
 * The check builds no native code, because this would need Gradle with an Android SDK, or Xcode.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkBareApp } from "./bare.ts";
import { checkAutolinking, checkBundles, checkSources, installExample } from "./example.ts";
import { checkFreshExpoApp } from "./fresh-expo.ts";
import { checkPrebuild } from "./prebuild.ts";
import { ProgramRunner } from "../suite/run.ts";
import { Suite } from "../suite/suite.ts";
import { ROOT, VERSION } from "../pack/manifest.ts";

const PACKED = ["contract", "host-client", "react-native"];

const suite = new Suite("mobile", (text) => void process.stdout.write(text));
const start = performance.now();
const folder = realpathSync(mkdtempSync(join(tmpdir(), "drs-mobile-")));

try {
  await check();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${((performance.now() - start) / 1_000).toFixed(0)} s\n${suite.line}\n`);
process.exitCode = suite.failed ? 1 : 0;

async function check(): Promise<void> {
  const packages = place("packages");
  const packed = await suite.check("the packages are packed", async () => {
    const named = PACKED.flatMap((name) => ["--package", name]);
    await runnerIn(ROOT).must(process.execPath, "tools/pack/pack.ts", "--out", packages, ...named);
  });
  if (!packed) return;
  const tarballs = PACKED.map((name) => join(packages, `device-risk-signals-${name}-${VERSION}.tgz`));
  const [, ...forApps] = tarballs;

  const example = place("example");
  const runner = runnerIn(example);
  const installed = installExample(suite, example, runner, tarballs);
  // Metro runs for long on one processor, so the other checks run at the same time.
  await Promise.all([
    installed.then((there) => (there ? checkBundles(suite, example, runner) : undefined)),
    checkBareApp(suite, place("bare"), runnerIn(join(folder, "bare")), forApps).then(async () => {
      if (!(await installed)) return;
      await checkSources(suite, example, runner);
      await checkAutolinking(suite, runner);
      await checkPrebuild(suite, place("prebuild"), runnerIn(join(folder, "prebuild")), join(example, "node_modules"));
      await checkFreshExpoApp(suite, place("fresh"), runnerIn(join(folder, "fresh")), example);
    }),
  ]);
}

function place(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

function runnerIn(path: string): ProgramRunner {
  return new ProgramRunner(path, folder);
}
