/**
 * `npm run mutants`: takes out the rules of the endpoint one at a time, in a copy of the tree, and shows that a test
 * notices each. Prints one line a rule and, last, `N passed, N failed`. `--only TEXT` runs the rules that hold it.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { failuresOf } from "../../e2e/rejections/case.ts";
import { REJECTIONS } from "../../e2e/rejections/cases.ts";
import { REJECTING_SERVER } from "../../e2e/rejections/server-settings.ts";
import { startDatabase, type TestDatabase } from "../../e2e/support/database.ts";
import { makeParties, openTestSystem, type Parties } from "../../e2e/support/parties.ts";
import { startServer } from "../../e2e/support/server.ts";
import { type Patch, PATCHES, type Suite } from "./patches.ts";

const ROOT = join(import.meta.dirname, "../..");
const SCOPE = "@device-risk-signals";
const AT_ONCE = 16;

const TESTS: Readonly<Record<Exclude<Suite, "rejections">, string>> = {
  "exactly-once": "e2e/exactly-once.test.ts",
  "exact-bytes": "e2e/exact-bytes.test.ts",
  operations: "e2e/operations.test.ts",
  purposes: "e2e/purposes.test.ts",
  holds: "e2e/holds.test.ts",
  retention: "e2e/retention.test.ts",
  erasure: "e2e/erasure.test.ts",
  restore: "e2e/restore.test.ts",
  keys: "e2e/keys.test.ts",
  rotation: "packages/server/src/crypto/rotation.test.ts",
  requests: "e2e/requests.test.ts",
  chain: "packages/server/src/journal/chain.test.ts",
  failover: "e2e/failover.test.ts",
};

interface Scene {
  readonly copy: string;
  readonly environment: Record<string, string>;
  readonly parties: Parties;
}

/** A tree like this one whose workspace packages are its own. */
async function copyTree(copy: string): Promise<void> {
  for (const folder of ["packages", "e2e", "bench", "examples", "tools"]) {
    await cp(join(ROOT, folder), join(copy, folder), {
      recursive: true,
      filter: (path) => !path.includes("node_modules"),
    });
  }
  for (const file of ["package.json", "tsconfig.json", "vitest.config.ts"])
    await cp(join(ROOT, file), join(copy, file));
  await mkdir(join(copy, "node_modules", SCOPE), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    if (name !== SCOPE) await symlink(join(ROOT, "node_modules", name), join(copy, "node_modules", name));
  }
  for (const name of ["contract", "server"]) {
    await symlink(join(copy, "packages", name), join(copy, "node_modules", SCOPE, name));
  }
  await symlink(join(copy, "bench"), join(copy, "node_modules", SCOPE, "bench"));
}

/** The names of the tests that noticed; empty where none did. */
async function noticedBy(patch: Patch, scene: Scene): Promise<string[]> {
  const suite = patch.suite ?? "rejections";
  return suite === "rejections" ? noticedByRejections(scene) : noticedByTests(TESTS[suite], patch.test, scene);
}

async function noticedByRejections({ copy, environment, parties }: Scene): Promise<string[]> {
  const server = await startServer({ ...environment, ...REJECTING_SERVER }, { root: copy }).catch(() => undefined);
  if (!server) return ["the server does not start"];
  const waiting = [...REJECTIONS];
  const noticed: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next && noticed.length === 0; next = waiting.shift()) {
      noticed.push(...(await failuresOf(next, server.url, parties)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await server.kill();
  return noticed;
}

function noticedByTests(file: string, test: string | undefined, { copy }: Scene): Promise<string[]> {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const options = { cwd: copy };
  const args = [vitest, "run", "--bail", "1", ...(test === undefined ? [] : ["-t", test]), file];
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (fault) => resolve(fault ? [file] : []));
  });
}

/** A test that fails without any patch would notice everything. */
async function requirePassing({ suite = "rejections", test }: Patch, scene: Scene, passed: Set<string>): Promise<void> {
  const name = `${suite} ${test ?? ""}`;
  if (suite === "rejections" || passed.has(name)) return;
  const failed = await noticedByTests(TESTS[suite], test, scene);
  if (failed.length > 0) throw new Error(`the tests fail without any patch: ${name}`);
  passed.add(name);
}

async function run(patch: Patch, scene: Scene): Promise<boolean> {
  const path = join(scene.copy, patch.file);
  const original = await readFile(path, "utf8");
  const places = original.split(patch.find).length - 1;
  if (places !== 1) throw new Error(`the patch for "${patch.rule}" finds its piece ${places} times in ${patch.file}`);
  await writeFile(
    path,
    original.replace(patch.find, () => patch.replace),
  );
  try {
    const noticed = await noticedBy(patch, scene);
    const [first = "nobody noticed"] = noticed;
    process.stdout.write(`${noticed.length > 0 ? "noticed" : "MISSED "}  ${patch.rule}: ${first.slice(0, 110)}\n`);
    return noticed.length > 0;
  } finally {
    await writeFile(path, original);
  }
}

async function main(only: string | undefined): Promise<number> {
  const copy = await mkdtemp(join(tmpdir(), "drs-mutants-"));
  let database: TestDatabase | undefined;
  try {
    await copyTree(copy);
    database = await startDatabase();
    const environment = await database.environment();
    const system = await openTestSystem(environment);
    const parties = await makeParties(system);
    await system.close();
    const scene = { copy, environment, parties };
    const untouched = await noticedByRejections(scene);
    if (untouched.length > 0) throw new Error(`the tests fail without any patch: ${untouched[0]}`);
    const patches = PATCHES.filter(({ rule }) => only === undefined || rule.includes(only));
    let missed = 0;
    const passed = new Set<string>();
    for (const patch of patches) {
      await requirePassing(patch, scene, passed);
      if (!(await run(patch, scene))) missed++;
    }
    process.stdout.write(`${patches.length - missed} passed, ${missed} failed\n`);
    return missed === 0 ? 0 : 1;
  } finally {
    await database?.close();
    await rm(copy, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { only: { type: "string" } } });
process.exitCode = await main(values.only);
