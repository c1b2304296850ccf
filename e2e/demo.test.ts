/** Tests of `drs demo`, and of the commands of README and guides on the installation that it fills. */
import { execFile, spawn } from "node:child_process";
import { copyFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { loadConfig } from "../packages/server/src/cli/context.ts";
import { startOver } from "../packages/server/src/cli/start-over.ts";
import { drsOfRun } from "./support/bundle-drs.ts";
import { contextWith, leafCommands, objects, type Printed, runAsGiven, shownCommands } from "./support/command.ts";
import { GUIDED, NOT_RUN } from "./support/guided-commands.ts";
import { type Home, makeEmptyHome, until } from "./support/embedded.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { useFolder } from "./support/use-folder.ts";

const LEGAL_CLAIM = ["--include-restricted", "--reason", "a legal claim"];

const folder = useFolder();
const path = (name: string): string => join(folder(), name);
let demo: Home;
let printed: Readonly<Record<string, number>>;

const drs = (...args: readonly string[]): Promise<Printed> => runAsGiven(demo.environment, ...args);

async function listed<T = Record<string, string>>(...args: readonly string[]): Promise<T[]> {
  const { code, stdout, stderr } = await drs(...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return objects<T>(stdout);
}

beforeAll(async () => {
  demo = await makeEmptyHome();
  const { code, stdout, stderr } = await drs("demo", "--json");
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/^Day 1 of 14\n[^{]*Day 14 of 14\n$/);
  printed = objects<Record<string, number>>(stdout)[0] ?? {};
});
afterAll(() => demo.remove());

const sum = (rows: readonly { readonly occurrences: number }[]): number =>
  rows.reduce((total, { occurrences }) => total + occurrences, 0);

describe("drs demo", () => {
  it("stores as many events of as many accounts as it says, over fourteen past days", async () => {
    const outcomes = await listed<{ hour: string; occurrences: number }>(
      "outcome",
      "list",
      "--probe",
      "hardware",
      "--limit",
      "0",
    );
    expect(sum(outcomes)).toBe(printed["events"]);
    const days = [...new Set(outcomes.map(({ hour }) => hour.slice(0, 10)))].toSorted();
    const first = Date.parse(days[0] ?? "");
    expect(days).toEqual(
      Array.from({ length: 14 }, (_, at) => new Date(first + at * 86_400_000).toISOString().slice(0, 10)),
    );
    expect(Date.now() - first).toBeLessThan(16 * 86_400_000);
    const events = await listed("event", "list", "--limit", "0", ...LEGAL_CLAIM);
    // One account is erased as a whole.
    expect(new Set(events.map(({ account }) => account)).size).toBe((printed["accounts"] ?? 0) - 1);
    expect(printed["accounts"]).toBe(30);
    expect(new Set(events.map(({ platform }) => platform)).size).toBe(2);
    expect(new Set(events.map(({ sdk_version }) => sdk_version)).size).toBe(3);
  });

  it("counts as many rejections and conflicts as it says, and departures from the catalog", async () => {
    type Row = { readonly problem: string; readonly occurrences: number };
    const rejections = await listed<Row>("rejection", "list", "--limit", "0");
    const conflicts = rejections.filter(({ problem }) => problem === "idempotency-conflict");
    expect({ rejected: sum(rejections) - sum(conflicts), conflicts: sum(conflicts) }).toEqual({
      rejected: printed["rejected"],
      conflicts: printed["conflicts"],
    });
    expect(printed).toMatchObject({ replays: 2, conflicts: 1 });
    expect(await listed("drift", "list")).not.toEqual([]);
  });

  it("has work of every role: holds, restrictions, requests, erasures, cases, features, exports, approvals", async () => {
    const rowsOf = async (list: string): Promise<unknown> => listed(...list.split(" "));
    expect(await rowsOf("hold list")).toMatchObject([{ account: "customer-7", lifted_at: null }]);
    expect(await rowsOf("restriction list")).toMatchObject([{ article: 21 }, { article: 18 }]);
    expect(await rowsOf("request list")).toMatchObject([
      { account: "customer-4", kind: "access", overdue: false, outcome: null },
      { kind: "restriction", outcome: "done" },
      { kind: "objection", outcome: "done" },
      { kind: "erasure", outcome: "done" },
      { kind: "erasure", outcome: "partly" },
    ]);
    expect(await rowsOf("erase list")).toMatchObject([{ still_held: expect.any(Number) as number }, { still_held: 0 }]);
    expect(await rowsOf("case list")).toMatchObject([{ closed_at: null }, { closed_at: expect.any(String) as string }]);
    expect(await rowsOf("approval list")).toMatchObject([{ state: "waiting", requested_by: "omar" }]);
    const [exported] = await listed("export", "list");
    expect(await rowsOf(`export recall ${exported?.["export_id"]}`)).toHaveLength(2);
    const [layers] = await listed<{ due_batches: number }>("feature", "layers");
    expect(layers).toMatchObject({ due_batches: 0, layers: [{ purpose: "payments" }, { members: ["root_traces@2"] }] });
    const [rooted] = await listed("feature", "get", "--account", "customer-17", "--limit", "1");
    expect(rooted).toMatchObject({ status: "computed" });
  });

  it("is named by the doctor, which finds nothing wrong, and by drs status", async () => {
    const { code, stdout } = await drs("doctor");
    expect(stdout).toMatch(/^note {2}demo: sample data .*npm start -- --fresh/m);
    expect({ code, found: stdout.match(/^(?:FAIL|WARN).*/gm) }).toEqual({ code: 0, found: null });
    expect((await drs("status")).stdout).toMatch(/^Demo {10}sample data .*npm start -- --fresh/m);
  });
});

describe("drs demo refuses, and changes nothing,", () => {
  const refused = async (settings: Readonly<Record<string, string>>, why: string): Promise<void> => {
    const { code, stdout, stderr } = await runAsGiven({ ...demo.environment, ...settings }, "demo");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^drs demo [^\n]*${why}[^\n]* Nothing was changed\\.\n$`));
  };

  it("an installation that has files", async () => {
    await refused({}, "fills an empty installation only, and .* has files");
  });

  it.each([
    [
      "the events",
      { DRS_DATABASE_URL: "postgresql://drs@127.0.0.1:1/drs", DRS_KEY_ENCRYPTION_KEY: "A".repeat(43) + "=" },
    ],
    [
      "the journal",
      { DRS_ERASURE_JOURNAL: undefined, DRS_ERASURE_JOURNAL_DATABASE_URL: "postgresql://drs@127.0.0.1:1/drs" },
    ],
  ])("an external database of %s", async (_, settings) => {
    await refused(
      { ...settings, DRS_DATA_DIR: path("nothing") } as Record<string, string>,
      "a variable names a database",
    );
  });

  it.each([
    ["the endpoint", { DRS_HOST: "0.0.0.0", DRS_TLS_TERMINATED_BY_PROXY: "true" }],
    ["the admin API", { DRS_ADMIN_HOST: "0.0.0.0" }],
  ])("an address of %s off loopback", async (_, settings) => {
    await refused({ ...settings, DRS_DATA_DIR: path("nothing"), DRS_KEY_DIR: path("keys") } as never, "on loopback");
    expect(await readdir(folder())).toEqual([]);
  });

  it("a user whose commands go to a server", async () => {
    await refused({ DRS_ADMIN_URL: "http://127.0.0.1:1", DRS_ADMIN_TOKEN: "t" }, "commands go to the server at");
  });
});

test("an interrupted demo is opened by nothing else, and every command says how to start over", async () => {
  const home = await makeEmptyHome();
  try {
    const env = { PATH: process.env["PATH"], ...home.environment };
    const child = spawn(process.execPath, [drsOfRun(), "demo"], { env, stdio: ["ignore", "ignore", "pipe"] });
    let progress = "";
    child.stderr.on("data", (chunk: Buffer) => (progress += chunk.toString()));
    await until(() => progress.includes("Day 1"));
    child.kill("SIGKILL");
    for (const args of [["event", "list"], ["serve"], ["doctor"]]) {
      const { code, stderr } = await runAsGiven(home.environment, ...args);
      expect({ args, code }).toEqual({ args, code: 4 });
      expect(stderr).toMatch(/interrupted.*drs demo --fresh.*npm start -- --fresh/s);
    }
  } finally {
    await home.remove();
  }
});

test.concurrent.each([
  ["on the database", []],
  ["through the admin API", ["--remote"]],
])(
  "npm run demo:privacy demonstrates the lifecycle of an account of the demo %s",
  async (_, options) => {
    const script = join(import.meta.dirname, "../tools/demo-privacy/demo-privacy.ts");
    const args = [script, "--on", demo.path, ...options];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 100_000 });
    const shown = stdout.match(/^ {2}✓ /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(20);
    expect(stdout).toContain(`Shown: ${shown}\n`);
  },
  110_000,
);

describe("on a demo that is served, each command of README and guides works:", () => {
  let server: ServerProcess;
  const kept = new Map<string, string>();
  const ran = new Set<string>();
  const dateIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

  beforeAll(async () => {
    server = await startServer(demo.environment);
    for (const file of ["labels.csv", "purposes.yaml", "training.parquet", "training.parquet.manifest.json"]) {
      await copyFile(join(demo.dataDir, "demo", file), path(file));
    }
    await writeFile(path("recent.csv"), `account,label_time,label\ncustomer-3,${new Date().toISOString()},none\n`);
    const checkpoints = join(demo.path, "erasures/audit-checkpoints");
    await copyFile(join(checkpoints, (await readdir(checkpoints)).toSorted().at(-1) ?? ""), path("kept.note"));
    kept.set("folder", folder());
    for (const [name, days] of [
      ["today", 0],
      ["in half a year", 180],
      ["in a year", 365],
    ] as const)
      kept.set(name, dateIn(days));
  });
  afterAll(() => server.stop());

  it("and its database has the clock of the schema again", async () => {
    const client = new pg.Client({ host: join(demo.dataDir, "socket"), user: "postgres", database: "drs" });
    await client.connect();
    const { rows } = await client.query("select pg_get_function_sqlbody('drs.transaction_time'::regproc) as body");
    await client.end();
    expect(rows).toEqual([{ body: "RETURN now()" }]);
  });

  it.each(GUIDED.map((guided) => [guided.line, guided] as const))(
    "drs %s",
    async (line, { keep, output, exit = 0 }) => {
      const filledIn = line.replaceAll(/\{([^}]+)\}/g, (_, name: string) => kept.get(name) ?? `no ${name}`);
      const words = (filledIn.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
      ran.add(leafCommands().find((name) => `${words.join(" ")} `.startsWith(`${name} `)) ?? line);
      // One person works here, who also closes their own review.
      const environment = { ...demo.environment, DRS_APPROVALS: "off" };
      const { code, stdout, stderr } = await runAsGiven(environment, ...words, ...(keep ? ["--json"] : []));
      expect(code, stderr + stdout).toBe(exit);
      if (output !== undefined) await writeFile(path(output), stdout);
      for (const [name, member] of Object.entries(keep ?? {})) kept.set(name, String(objects(stdout)[0]?.[member]));
    },
  );

  it("none is left out", () => {
    const shown = shownCommands(["README.md", "docs/**/*.md"]).map(({ words }) => `${words.join(" ")} `);
    const named = leafCommands().filter((name) => shown.some((words) => words.startsWith(`${name} `)));
    expect(named.filter((name) => !ran.has(name)).toSorted()).toEqual(Object.keys(NOT_RUN).toSorted());
  });
});

test("npm start -- --fresh deletes a demo", async () => {
  const { environment } = demo;
  const context = contextWith(environment, process.stdout, process.stderr);
  await startOver(context, loadConfig(context), true);
  expect(await readdir(demo.path)).toEqual([]);
});
