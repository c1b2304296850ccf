/** Tests of the files that an export leaves if a call of the file system fails. */
import fs, { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { writeExport } from "./export-file.ts";
import type { ExportPart } from "./export-parts.ts";

/**
 * Whether a call fails. The parameters are its function, the name of its file and the number of earlier calls of the
 * same kind.
 */
type Fails = (call: string, name: string, before: number) => boolean;
let fails: Fails;

const root = useFolder();
let tests = 0;
const folder = (): string => join(root(), `test-${tests}`);
const path = (): string => join(folder(), "out");
const names = async (): Promise<readonly string[]> => (await readdir(folder())).toSorted();
const SHA256_OF_AB = "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603";

beforeEach(async () => {
  tests += 1;
  await mkdir(folder());
  fails = () => false;
  const calls: string[] = [];
  for (const call of ["open", "link", "rename", "unlink"] as const) {
    const original = fs[call] as (file: unknown, ...more: readonly unknown[]) => Promise<unknown>;
    vi.spyOn(fs, call).mockImplementation(async (file: unknown, ...more: readonly unknown[]) => {
      const name = basename(String(file));
      const before = calls.filter((earlier) => earlier === call + name).length;
      calls.push(call + name);
      if (fails(call, name, before)) throw Object.assign(new Error("a test"), { code: "EPERM" });
      return (await original(file, ...more)) as never;
    });
  }
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

async function write(meanwhile?: () => Promise<void>): Promise<void> {
  async function* parts(): AsyncGenerator<ExportPart> {
    yield { bytes: Buffer.from("ab") };
    await meanwhile?.();
    yield { manifest: { file: { sha256: SHA256_OF_AB } } } as ExportPart;
  }
  await writeExport(path(), parts());
}

/** Whether a call is the sync of the folder. */
const isSync = (call: string, name: string): boolean => call === "open" && name === basename(folder());

it.each<[step: string, fails: Fails]>([
  ["its draft is not deleted at first", (call, name, before) => call + name === "unlinkout.partial" && before === 0],
  ["its draft is not renamed", (call, name) => call === "link" || call + name === "renameout.partial"],
  ["its name is not durable", (call, name, before) => isSync(call, name) && before === 0],
  ["its manifest gets no name", (call, name) => ["link", "rename"].includes(call) && name.includes("manifest")],
  [
    "the draft of its manifest is not deleted at first",
    (call, name, before) => call + name === "unlinkout.manifest.json.partial" && before === 0,
  ],
  ["the name of its manifest is not durable", (call, name, before) => isSync(call, name) && before === 1],
])("an export leaves nothing if %s", async (_, failing) => {
  fails = failing;
  await expect(write()).rejects.toMatchObject({ code: "output-failed", cause: { code: "EPERM" } });
  fails = () => false;
  expect(await names()).toEqual([]);
  await write();
  expect(await names()).toEqual(["out", "out.manifest.json"]);
});

it("an export is complete on a file system without links", async () => {
  fails = (call) => call === "link";
  await write();
  expect(await names()).toEqual(["out", "out.manifest.json"]);
  expect(await readFile(path(), "utf8")).toBe("ab");
});

it("an export deletes no manifest that another process has made", async () => {
  const manifest = `${path()}.manifest.json`;
  await expect(write(() => writeFile(manifest, "mine"))).rejects.toMatchObject({ code: "output-failed" });
  expect(await names()).toEqual(["out.manifest.json"]);
  expect(await readFile(manifest, "utf8")).toBe("mine");
});

it("an error names the files that can't be deleted, and the call that failed first", async () => {
  fails = (call) => call === "unlink";
  const error = await write().catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty(
    "message",
    `${path()} can't be written (EPERM); delete ${path()}.partial and ${path()}, which could not be deleted`,
  );
});
