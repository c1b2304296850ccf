/** Tests of stores that do not belong together, and of a start that deletes all of them. */
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { drsOfRun } from "../support/bundle-drs.ts";
import { type Home, makeHome, until } from "../support/embedded.ts";
import {
  EmbeddedScene,
  expectRefused,
  expectStopped,
  issueToken,
  listTokens,
  lines,
  migrate,
} from "../support/embedded-scene.ts";
import { runDrs, spawnDrs } from "../support/server.ts";

const { home, serve, leftovers } = new EmbeddedScene();

/** An installation whose journal has a checkpoint of the audit. Each test uses a copy. */
let original: Home;

beforeAll(async () => {
  original = await makeHome();
  expect((await migrate(original)).code).toBe(0);
  expect((await issueToken(original)).code).toBe(0);
  expect(await runDrs(original.environment, ["audit", "checkpoint"])).toMatchObject({ code: 0 });
  await expectStopped(original);
});

afterAll(() => original.remove());

async function used(): Promise<Home> {
  const place = await home();
  await promisify(execFile)("cp", ["-a", `${original.path}/.`, place.path]);
  return place;
}

const fresh = ({ environment }: Home, ...args: readonly string[]) => runDrs(environment, ["serve", "--fresh", ...args]);

test.each([
  ["journal", ["keys"], /the erasure journal \S+\/erasures belongs to [\da-f-]{36}/],
  ["key store", [], /the key store \S+\/keys belongs to [\da-f-]{36}/],
])(
  "a new database next to a leftover %s is refused by name, with the command that starts over",
  async (_, gone, named) => {
    const place = await used();
    for (const folder of ["data", ...gone]) await rm(join(place.path, folder), { recursive: true });
    const start = await runDrs(place.environment, ["serve"]);
    expectRefused(start, named, /the database belongs to [\da-f-]{36}/, /npm start -- --fresh$/m);
  },
);

test("--fresh deletes the four folders after a confirmation, and starts over", async () => {
  const place = await used();
  await rm(join(place.path, "data"), { recursive: true });
  const unconfirmed = await fresh(place);
  expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining("confirm with --yes") });
  for (const folder of [place.keyDir, join(place.path, "erasures")]) expect(unconfirmed.stderr).toContain(folder);
  expect(await readdir(place.path)).toContain("keys");

  const child = spawnDrs(place.environment, ["serve", "--fresh", "--yes"]);
  const ended = new Promise((resolve) => child.once("close", resolve));
  leftovers.push(async () => child.kill("SIGKILL"));
  await until(async () => (await readdir(place.path)).includes("data"));
  await until(async () => (await listTokens(place)).code === 0);
  expect(lines(await listTokens(place)).join()).not.toContain('"account":"a"');
  child.kill("SIGTERM");
  await ended;
  expect(await issueToken(place), "the stores belong together").toMatchObject({ code: 0 });
});

test("--fresh asks at a terminal, and deletes nothing without a yes", async () => {
  const place = await used();
  const command = `"${process.execPath}" "${drsOfRun()}" serve --fresh`;
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    env: { PATH: process.env["PATH"], HOME: place.path, ...place.environment },
  });
  let output = "";
  const asked = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("Type yes to continue: ")) resolve();
    });
  });
  void asked.then(() => child.stdin.write("no\n"));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining("Nothing was changed") });
  expect(output).toContain(place.keyDir);
  expect(lines(await listTokens(place)).join()).toContain('"account":"a"');
});

test("--fresh deletes hidden files only if a killed server left them", async () => {
  const place = await used();
  const checkpoints = join(place.path, "checkpoints");
  const environment = { ...place.environment, DRS_AUDIT_CHECKPOINTS: checkpoints };
  await mkdir(checkpoints);
  const drafts = [
    [checkpoints, ".2026-03-01.checkpoint.new"],
    ...[checkpoints, place.keyDir].map((at) => [at, `.${randomUUID()}`]),
  ];
  for (const draft of [...drafts, [place.keyDir, ".mark.new"]]) await writeFile(join(...draft), "");
  for (const name of [".git", ".ssh", ".env", ".id_ed25519.new", ".checkpoint.new"]) {
    await writeFile(join(checkpoints, name), "");
    const refused = await fresh({ ...place, environment }, "--yes");
    expectRefused(refused, new RegExp(`checkpoints also holds \\${name}, which .* Nothing was changed`));
    await rm(join(checkpoints, name));
  }
  const asked = await fresh({ ...place, environment });
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining(`${checkpoints} is deleted`) });
});

test("--fresh changes nothing while a server runs, in a folder with other files, and on an external database", async () => {
  const place = await used();
  const server = await serve(place);
  expectRefused(await fresh(place, "--yes"), /another server runs on the data directory/);
  await server.stop();
  await writeFile(join(place.keyDir, "thesis.odt"), "");
  expectRefused(await fresh(place, "--yes"), /also holds thesis\.odt.*Nothing was changed/);
  const external = {
    ...place.environment,
    DRS_DATABASE_URL: "postgresql://drs@localhost/drs",
    DRS_KEY_ENCRYPTION_KEY: Buffer.alloc(32).toString("base64"),
  };
  expect(await runDrs(external, ["serve", "--fresh", "--yes"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("DRS_DATABASE_URL"),
  });
  expect(lines(await listTokens(place)).join()).toContain('"account":"a"');
});
