/** Exports onto a disk that becomes full. The disk is a small `tmpfs`, which only root may mount. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { mkdir, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { objects, type Printed, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { adoptFound, textOfEvent } from "../adopt-feature.fixture.ts";
import { extractNext } from "../extraction-worker.ts";
import { LayerRunners } from "../layer-runners.ts";
import { createParserOf } from "../read-inputs.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const disk = (): string => join(folder(), "disk");
const file = (): string => join(disk(), "training.jsonl");
const manifest = (): string => `${file()}.manifest.json`;
const ROWS = 1_500;
/** The size in bytes of a page, the unit in which `tmpfs` allocates space. */
const PAGE_BYTES = 4_096;

const run = (...command: readonly [string, ...string[]]): boolean =>
  spawnSync(command[0], command.slice(1), { stdio: "ignore" }).status === 0;
const mounts = (at: string, bytes: number, ...more: readonly string[]): boolean =>
  run("mount", "-t", "tmpfs", "-o", [`size=${bytes}`, ...more].join(","), "none", at);

const trial = mkdtempSync(join(tmpdir(), "drs-test-"));
const mayMount = mounts(trial, PAGE_BYTES) && run("umount", trial);
rmdirSync(trial);

beforeAll(async () => {
  const { system } = opened;
  const past = new Past(system);
  const runners = new LayerRunners();
  const parserOf = createParserOf((error) => expect.unreachable(String(error)));
  await adoptFound(system, "root");
  await past.store(2, { account: "one" }, textOfEvent());
  const { pool, sealer, featureSealer } = system;
  await extractNext({ pool, sealer, featureSealer, runners, parserOf, onError: () => {} });
  await past.close();
  await runners.close();
  const start = Date.now() - 3_600_000;
  const times = Array.from({ length: ROWS }, (_, index) => new Date(start + index).toISOString());
  const lines = ["account,label_time,label", ...times.map((time) => `one,${time},good`), ""];
  await writeFile(join(folder(), "labels.csv"), lines.join("\n"));
});

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(opened.environment, "export", ...args);

function runExport(): Promise<Printed> {
  const order = ["--features", "root@1", "--purpose", "default", "--clock", "received", "--format", "jsonl"];
  const why = ["--recipient", "fraud team", "--reason", "model 4711", "--expires", "2999-01-31"];
  return drs("run", "--labels", join(folder(), "labels.csv"), ...order, ...why, "--out", file(), "--json");
}

describe.skipIf(!mayMount)(
  "an export onto a disk that becomes full (skipped if this process may not mount one)",
  () => {
    const useDisk = (bytes: number): void => expect(mounts(disk(), bytes)).toBe(true);
    const enlarge = (): void => expect(mounts(disk(), 2 ** 22, "remount")).toBe(true);
    beforeEach(() => mkdir(disk(), { recursive: true }));
    afterEach(() => void run("umount", disk()));

    async function expectWhole(): Promise<{ readonly bytes: number }> {
      expect(await runExport()).toMatchObject({ code: 0, stderr: "" });
      expect(await drs("verify", file())).toMatchObject({ code: 0 });
      expect(objects(await readFile(file(), "utf8"))).toHaveLength(ROWS);
      return stat(file()).then(({ size: bytes }) => ({ bytes }));
    }

    it("ends with an error that names the file, and leaves no file; the next export is complete", async () => {
      useDisk(65_536);
      const { code, stdout, stderr } = await runExport();
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`${file()} can't be written (ENOSPC)`);
      expect(await readdir(disk())).toEqual([]);
      expect(objects((await drs("list", "--limit", "1", "--json")).stdout)).toMatchObject([{ state: "not ended" }]);
      expect((await drs("verify", file())).code).toBe(1);
      enlarge();
      await expectWhole();
    });

    it("leaves no file whose manifest could not be written; the next export is complete", async () => {
      useDisk(2 ** 22);
      const { bytes } = await expectWhole();
      run("umount", disk());
      useDisk(Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES);
      const { code, stdout, stderr } = await runExport();
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`${manifest()} can't be written (ENOSPC)`);
      expect(await readdir(disk())).toEqual([]);
      enlarge();
      await expectWhole();
    });

    it("is not verified as whole if its file or its manifest was truncated", async () => {
      useDisk(2 ** 22);
      const { bytes } = await expectWhole();
      await truncate(file(), Math.floor(bytes / 2));
      expect((await drs("verify", file())).stderr).toContain("differs from export");
      await truncate(manifest(), 100);
      expect((await drs("verify", file())).stderr).toContain("is no manifest");
    });
  },
);
