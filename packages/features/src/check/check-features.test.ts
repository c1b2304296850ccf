import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { checkFeatures } from "./check-features.ts";

const root = mkdtempSync(join(tmpdir(), "drs-check-"));
afterAll(() => rmSync(root, { recursive: true }));

const definition = (id: string, compute: string): string => `
import { anyTrue, count, feature, field, flag } from "@device-risk-signals/features";
export const x = feature({
  id: "${id}",
  version: 1,
  owner: "fraud team",
  meaning: "x",
  falseReadings: ["none is known"],
  purposes: ["payments"],
  inputs: { su: field("os_integrity.suBinaryFound"), emulator: field("os_integrity.isEmulator") },
  output: flag(),
  compute: ${compute},
  fixtures: "./${id}.fixtures.json",
});
`;

const FIXTURES = {
  cases: [
    { name: "su", inputs: { "*": "timeout", su: { observed: true } }, result: { observed: true } },
    { name: "clean", inputs: { "*": { observed: false } }, result: { observed: false } },
  ],
};

/** Writes definitions, each with fixtures, into a new folder, and checks it. */
async function problemsOf(definitions: Readonly<Record<string, readonly [compute: string, fixtures: unknown]>>) {
  const folder = join(root, Object.keys(definitions).join("-"));
  mkdirSync(folder);
  for (const [id, [compute, fixtures]] of Object.entries(definitions)) {
    writeFileSync(join(folder, `${id}.feature.ts`), definition(id, compute));
    writeFileSync(join(folder, `${id}.fixtures.json`), JSON.stringify(fixtures));
  }
  return (await checkFeatures(folder)).problems;
}

describe("checkFeatures", () => {
  it("accepts the starter features: lock file, and fixtures on two engines", async () => {
    const report = await checkFeatures(fileURLToPath(new URL("../starter", import.meta.url)));
    expect(report.problems).toEqual([]);
    expect(report.features).toBeGreaterThanOrEqual(25);
  });

  it("reports wrong results, merged states, failures and differences between engines", async () => {
    const problems = await problemsOf({
      wrong: ["() => true", FIXTURES],
      throws: ["(inputs) => inputs.su.state === 'error' ? [].x.y : anyTrue(inputs)", FIXTURES],
      engines: ["(inputs) => inputs.su.state === 'observed' && [].concat.toString().length === 35", FIXTURES],
    });
    const problemsWith = (id: string): string[] =>
      problems.filter((problem) => problem.startsWith(`${id}.feature.ts: `));
    expect(problemsWith("wrong")).toContain(
      'wrong.feature.ts: clean: expected {"observed":false}, the result is {"observed":true}',
    );
    expect(problemsWith("wrong").join()).toContain('every input is omitted:probe-absent: expected "omitted"');
    expect(problemsWith("throws")).toContain('throws.feature.ts: su, and su is error: the result is "failed:threw"');
    expect(problemsWith("engines").join()).toMatch(/su: V8 gives .*, QuickJS gives/);
    expect(problems).toContain("no features.lock.json: run `drs feature lock`");
  });

  it("reports a feature that takes too long for a list as long as a device can send", async () => {
    const isObserved = 'inputs.apps.state === "observed"';
    const folder = join(root, "slow");
    mkdirSync(folder);
    const write = (id: string, compute: string): void => {
      const text = definition(id, `(inputs) => ${isObserved} && ${compute}`);
      const apps = 'apps: field("media_bluetooth_apps.installedFlaggedApps")';
      writeFileSync(join(folder, `${id}.feature.ts`), text.replace(/inputs: \{.*\}/, `inputs: { ${apps} }`));
      writeFileSync(join(folder, `${id}.fixtures.json`), JSON.stringify({ cases: [] }));
    };
    write("quadratic", "inputs.apps.value.some((app, at, all) => all.indexOf(app) !== at)");
    write("linear", 'inputs.apps.value.some((app) => /^com\\.x/.test(app) || app.includes("frida"))');
    const { problems } = await checkFeatures(folder);
    expect(problems.filter((problem) => problem.includes("every list") || problem.includes("every text"))).toEqual([
      'quadratic.feature.ts: every list has 40000 members: the result is "failed:time-limit"',
    ]);
  });

  it.each([
    ["distinct", "[...text].every((c, at, all) => all.indexOf(c) === at)", "has 40000 distinct characters"],
    ["repeated", '/^x/.test(text) && [...text].every((c, at, all) => !all.includes("y"))', 'is "x" repeated'],
  ])("reports a feature that takes too long for a text of %s characters", async (id, compute, worst) => {
    const folder = join(root, id);
    mkdirSync(folder);
    const result = `inputs.text.state === 'observed' && ${compute.replaceAll("text", "inputs.text.value")}`;
    const text = definition(id, `(inputs) => ${result}`);
    const input = 'text: field("os_integrity.ldPreloadValue")';
    writeFileSync(join(folder, `${id}.feature.ts`), text.replace(/inputs: \{.*\}/, `inputs: { ${input} }`));
    writeFileSync(join(folder, `${id}.fixtures.json`), JSON.stringify({ cases: [] }));
    expect((await checkFeatures(folder)).problems).toContain(
      `${id}.feature.ts: every text ${worst}: the result is "failed:time-limit"`,
    );
  });

  it("reports fixtures that are missing or incomplete, or that do not fit the inputs", async () => {
    const compute = "(inputs) => anyTrue(inputs)";
    const all = { "*": { observed: true } };
    const problems = await problemsOf({
      partial: [compute, { cases: [{ name: "all", inputs: all, result: { observed: true } }] }],
      inputs: [
        compute,
        { cases: [{ name: "x", inputs: { typo: "timeout", su: { observed: "yes" } }, result: "omited" }] },
      ],
      empty: [compute, []],
    });
    expect(problems.filter((problem) => !problem.includes("lock"))).toEqual([
      "empty.feature.ts: the fixtures have no array `cases`",
      'inputs.feature.ts: fixture "x": no input is named "typo"',
      'inputs.feature.ts: fixture "x": su is neither {"observed": boolean} nor a state',
      'inputs.feature.ts: fixture "x": emulator is neither {"observed": boolean} nor a state',
      'inputs.feature.ts: fixture "x": `result` is neither {"observed": …} nor a state',
      "partial.feature.ts: no fixture results in false",
      "partial.feature.ts: no fixture has inputs with and without a value",
    ]);
  });
});
