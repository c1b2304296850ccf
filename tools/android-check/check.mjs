/**
 * Checks the Android half without an Android SDK, and ends with one line of counts. Arguments such as `--offline` are
 * passed to Maven. Needs JDK 17 or later and Maven; Maven's settings say where it downloads from.
 *
 * Maven compiles against React Native; checks that the code refers to no hidden API, and outside a guard to no API that
 * is newer than the oldest supported system; runs the tests; and shrinks the library. Then ktlint checks the style, and
 * detekt finds errors without running the code.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const REACTOR = dirname(fileURLToPath(import.meta.url));
const PACKAGE = join(REACTOR, "../../packages/react-native");
const MAPPING = join(REACTOR, "library/target/mapping.txt");

/** What autolinking and JavaScript reach by name must keep its name, also in an app that obfuscates. */
const KEPT = [
  "io.devicerisksignals.DeviceRiskSignalsPackage -> io.devicerisksignals.DeviceRiskSignalsPackage:",
  "io.devicerisksignals.DeviceRiskSignalsModule -> io.devicerisksignals.DeviceRiskSignalsModule:",
  "com.facebook.react.bridge.Promise) -> collect",
  "cancel(java.lang.String) -> cancel",
  "startObservation(com.facebook.react.bridge.Promise) -> startObservation",
  "stopObservation() -> stopObservation",
  "echo(double,com.facebook.react.bridge.Promise) -> echo",
];
/** If the rules kept everything, the check would be worthless. */
const OBFUSCATED = "io.devicerisksignals.call.Calls -> io.devicerisksignals.call.Calls:";

// The compilers leave classes of deleted sources behind, which would also be checked.
for (const old of ["classes", "test-classes", "maven-status", "surefire-reports", "mapping.txt"]) {
  rmSync(join(REACTOR, "library/target", old), { recursive: true, force: true });
}
const maven = ["--batch-mode", "--no-transfer-progress", "test", ...process.argv.slice(2)];
const succeeded = [
  run("mvn", maven, REACTOR),
  lint("ktlint-cli-all", "--relative", `--editorconfig=${join(REACTOR, "ktlint.editorconfig")}`, "android/src/**/*.kt"),
  lint(
    "detekt-cli-all",
    "--input",
    "android/src/main/java,android/src/test/java",
    "--build-upon-default-config",
    "--config",
    join(REACTOR, "detekt.yml"),
  ),
  survivesShrinking(),
].every(Boolean);

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
function run(command, args, cwd) {
  const env = { ...process.env, JAVA_TOOL_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" };
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: "inherit" });
  if (error) process.stderr.write(`${command} could not be run: ${error.code}\n`);
  return status === 0;
}

function lint(name, ...args) {
  const jar = join(REACTOR, `target/linters/${name}.jar`);
  return run("java", ["--add-opens=java.base/java.lang=ALL-UNNAMED", "-jar", jar, ...args], PACKAGE);
}

function survivesShrinking() {
  const mapping = existsSync(MAPPING) ? readFileSync(MAPPING, "utf8") : "";
  const lost = KEPT.filter((line) => !mapping.includes(line));
  if (lost.length > 0) process.stderr.write(`${MAPPING} lacks what is reached by name:\n${lost.join("\n")}\n`);
  if (mapping.includes(OBFUSCATED)) process.stderr.write(`Nothing was obfuscated: see ${MAPPING}\n`);
  return lost.length === 0 && !mapping.includes(OBFUSCATED);
}

/** Sums of the reports that the test runner writes, one for each class. */
function counts() {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const file of globSync(join(REACTOR, "library/target/surefire-reports/TEST-*.xml"))) {
    const suite = /<testsuite\s[^>]*>/u.exec(readFileSync(file, "utf8"))?.[0] ?? "";
    const count = (name) => Number(new RegExp(`\\s${name}="(\\d+)"`, "u").exec(suite)?.[1] ?? 0);
    const failed = count("errors") + count("failures");
    total.failed += failed;
    total.skipped += count("skipped");
    total.passed += count("tests") - failed - count("skipped");
  }
  return total;
}
