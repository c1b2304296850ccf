/** Runs the code of the pages about exports, with each tool that is installed. */
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { beforeAll, describe, expect, it } from "vitest";
import { extractNext } from "../packages/server/src/features/extraction-worker.ts";
import { LayerRunners } from "../packages/server/src/features/layer-runners.ts";
import { createParserOf } from "../packages/server/src/features/read-inputs.ts";
import { runWithBreakGlass } from "./support/command.ts";
import { Past } from "./support/past-event.ts";
import { useTestSystem } from "./support/test-system.ts";
import { useFolder } from "./support/use-folder.ts";

const folder = useFolder();
const testSystem = useTestSystem();
const path = (name: string): string => join(folder(), name);
const REASON = ["--reason", "review 4711"];
const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();

async function drs(...args: readonly string[]): Promise<void> {
  const run = await runWithBreakGlass(testSystem.environment, ...args);
  expect({ code: run.code, stderr: run.stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
}

/** The events of the account `one`: hours ago, and the value of `isVpnActive`. */
const EVENTS = [
  [40, true],
  [20, true],
  [10, undefined],
  [5, false],
  [3, true],
] as const;
const LABELS = [
  [0, "one", "fraud"],
  [25, "one", "good"],
  [45, "one", "good"],
  [0, "silent", "good"],
] as const;
/** What each page computes from them. */
const WINDOWS = [
  { row: 1, label: "fraud", platform: "ios", events: 4, vpn: 2, unknown: 1 },
  { row: 2, label: "good", platform: "ios", events: 1, vpn: 1, unknown: 0 },
  { row: 3, label: "good", platform: null, events: 0, vpn: 0, unknown: 0 },
  { row: 4, label: "good", platform: null, events: 0, vpn: 0, unknown: 0 },
];

beforeAll(async () => {
  const purpose = { id: "default", title: "t", legal_basis: "l", owner: "o", export_attributes: ["platform"] };
  const periods = { raw_retention: "P30D", derived_retention: "P1Y" };
  const policy = { purposes: [{ ...purpose, ...periods }], actions: {}, unmapped: "default" };
  await writeFile(path("policy.yaml"), JSON.stringify(policy));
  await drs("purpose", "apply", path("policy.yaml"), "--yes");
  await drs("feature", "init", path("definitions"));
  await drs("feature", "propose", path("definitions"), ...REASON);
  await drs("feature", "adopt", "vpn_active@1", "--purpose", "default", ...REASON);
  const { system } = testSystem;
  const past = new Past(system);
  for (const [hours, isVpnActive] of EVENTS) {
    const network = { status: "success", data: { isVpnActive } };
    await past.store(hours, { account: "one", platform: "ios" }, JSON.stringify({ probes: { network } }));
  }
  // An event without probes is no event for features.
  await past.store(0, { account: "silent" }, "{}");
  const runners = new LayerRunners();
  const onError = (error: unknown): never => {
    throw error;
  };
  while (await extractNext({ ...system, runners, parserOf: createParserOf(onError), onError }));
  await runners.close();
  await past.close();
  const rows = LABELS.map(([hours, account, label]) => `${account},${ago(hours)},${label}`);
  await writeFile(path("labels.csv"), ["account,label_time,label", ...rows, ""].join("\n"));
  const wanted = ["--features", "vpn_active@1", "--purpose", "default", "--clock", "received", "--all-events", "30d"];
  const given = ["--with", "platform", "--recipient", "team", "--expires", ago(-24).slice(0, 10), ...REASON];
  await drs("export", "run", "--labels", path("labels.csv"), ...wanted, ...given, "--out", path("training.parquet"));
});

it("an export with all events has the rows and columns that the pages about exports read", async () => {
  const file = await readFile(path("training.parquet"));
  const rows = await parquetReadObjects({ file: new Uint8Array(file).buffer });
  const shown = rows.map(({ row, event, platform, vpn_active__v1 }) => [Number(row), event, platform, vpn_active__v1]);
  expect(shown).toEqual([
    ...[true, false, null, true, true].map((value, at) => [1, BigInt(at + 1), "ios", value]),
    [2, 1n, "ios", true],
    [3, null, null, null],
    [4, null, null, null],
  ]);
  const kept = process.env["KEEP_EXPORT_IN"];
  if (kept === undefined) return;
  await copyFile(path("training.parquet"), join(kept, "training.parquet"));
  await writeFile(join(kept, "windows.json"), JSON.stringify(WINDOWS));
});

/** The code of a page, which reads `training.parquet` and writes `windows.parquet`. */
async function codeOf(page: string, language: string): Promise<string> {
  const text = await readFile(join(import.meta.dirname, `../docs/exports/${page}.md`), "utf8");
  return [...text.matchAll(new RegExp("^```" + language + "\\n([^]*?)^```", "gm"))].map(([, code]) => code).join("\n");
}

/** The content of `windows.parquet`: a file, or a folder of files. */
async function windowsIn(cwd: string): Promise<readonly unknown[]> {
  const name = join(cwd, "windows.parquet");
  const isFolder = (await stat(name)).isDirectory();
  const files = isFolder ? (await readdir(name)).filter((one) => /^part-.*\.parquet$/.test(one)) : [""];
  const rows: Record<string, unknown>[] = [];
  for (const file of files) {
    const { buffer } = new Uint8Array(await readFile(join(name, file)));
    rows.push(...(await parquetReadObjects({ file: buffer })));
  }
  const shown = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => [key, typeof value === "bigint" ? Number(value) : value]),
    ),
  );
  return shown.toSorted((one, other) => Number(one["row"]) - Number(other["row"]));
}

const PYTHON = process.env["TEST_PYTHON"] ?? "python3";
const hasModules = (modules: string): boolean => spawnSync(PYTHON, ["-c", `import ${modules}`]).status === 0;

/** How DuckDB's package runs the SQL of a file. */
const RUN_SQL = "import duckdb, sys; duckdb.sql(open(sys.argv[1]).read())";

describe("an export gives the same windows by the code", () => {
  for (const [page, language, modules] of [
    ["pandas", "python", "pandas, pyarrow"],
    ["duckdb", "sql", "duckdb"],
    ["spark", "python", "pyspark"],
  ] as const) {
    const title = `of docs/exports/${page}.md (skipped where Python lacks ${modules})`;
    it.skipIf(!hasModules(modules))(title, { timeout: 120_000 }, async () => {
      const cwd = path(page);
      await mkdir(cwd);
      await copyFile(path("training.parquet"), join(cwd, "training.parquet"));
      await writeFile(join(cwd, "code"), await codeOf(page, language));
      const args = language === "sql" ? ["-c", RUN_SQL, "code"] : ["code"];
      const { status, stderr } = spawnSync(PYTHON, args, { cwd, encoding: "utf8" });
      expect({ status }, stderr).toEqual({ status: 0 });
      expect(await windowsIn(cwd)).toEqual(WINDOWS);
    });
  }
});
