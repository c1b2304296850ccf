/**
 * Checks the Android half without an Android SDK, and ends with one line of counts. Arguments such as `--offline` are
 * passed to Maven. Needs JDK 17 or later and Maven; Maven's settings say where it downloads from.
 *
 * The steps, in this order: check the style (ktlint) and errors (detekt); compile against React Native; check that the
 * code refers to no hidden API, and outside a guard to no API that is newer than the oldest supported system; run the
 * tests; check that shrinking keeps what is reached by name.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const REACTOR = dirname(fileURLToPath(import.meta.url));
const REPORTS = join(REACTOR, "library/target/surefire-reports");

rmSync(REPORTS, { recursive: true, force: true });
const succeeded = run("mvn", [
  "--batch-mode",
  "--no-transfer-progress",
  "--fail-at-end",
  "test",
  ...process.argv.slice(2),
]);

const { passed, failed, skipped } = counts();
// A failure outside the tests counts as one failed test, so that the summary never looks better than the run.
const failures = succeeded || failed > 0 ? failed : 1;
// Maven does not end its last line and leaves terminal codes in it.
process.stdout.write(`\nandroid: ${passed} passed, ${failures} failed, ${skipped} skipped\n`);
process.exitCode = succeeded && failures === 0 && passed > 0 ? 0 : 1;

/**
 * Each JVM runs only for seconds, so using only the first compiler tier and one collector thread halves the processor
 * time of the check.
 */
function run(command, args) {
  const env = { ...process.env, JAVA_TOOL_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" };
  const { status, error } = spawnSync(command, args, { cwd: REACTOR, env, stdio: "inherit" });
  if (error) process.stderr.write(`${command} could not be run: ${error.code}\n`);
  return status === 0;
}

/** Sums of the reports that the test runner writes, one for each class. */
function counts() {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const file of reports()) {
    const suite = /<testsuite\s[^>]*>/u.exec(readFileSync(join(REPORTS, file), "utf8"))?.[0] ?? "";
    const count = (name) => Number(new RegExp(`\\s${name}="(\\d+)"`, "u").exec(suite)?.[1] ?? 0);
    const failed = count("errors") + count("failures");
    total.failed += failed;
    total.skipped += count("skipped");
    total.passed += count("tests") - failed - count("skipped");
  }
  return total;
}

function reports() {
  try {
    return readdirSync(REPORTS).filter((name) => name.startsWith("TEST-") && name.endsWith(".xml"));
  } catch {
    return [];
  }
}
