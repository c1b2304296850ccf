import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ExportPart } from "@device-risk-signals/admin-api";
import { requireUnused, writeExport } from "./export-folder.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-export-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const MANIFEST = {
  export_id: "e",
  account: "a",
  exported_at: "t",
  request_id: null,
  refused: false,
  letter_gaps: 1,
  files: [],
};
const write = (name: string, ...parts: readonly ExportPart[]) =>
  writeExport(
    join(folder, name),
    (async function* () {
      yield* parts;
    })(),
  );

it("the parts of an export are appended to its files, and the manifest is written last", async () => {
  const lines = ["1\n", "2\n"].map((text) => ({ file: "tokens.ndjson", text }));
  expect(await write("whole", ...lines, { manifest: MANIFEST })).toEqual(MANIFEST);
  expect(await readFile(join(folder, "whole", "tokens.ndjson"), "utf8")).toBe("1\n2\n");
  expect(await readdir(join(folder, "whole"))).toEqual(["events", "manifest.json", "tokens.ndjson"]);
  await expect(requireUnused(join(folder, "whole"))).rejects.toMatchObject({ code: "export-folder-used" });
});

it("a folder in which no file can be written is named before anything is exported", async () => {
  await writeFile(join(folder, "file"), "");
  const refused = { code: "output-failed", message: expect.stringContaining(join(folder, "file", "out")) };
  await expect(requireUnused(join(folder, "file", "out"))).rejects.toMatchObject(refused);
});

it("an export that ends early fails and leaves no manifest, and is repeated in another folder", async () => {
  const page = { file: "pages/events-2.html", text: "<p>" };
  const cut = write("cut", { file: "tokens.ndjson", text: "1\n" }, page);
  await expect(cut).rejects.toMatchObject({ code: "dependency-unavailable" });
  expect(await readdir(join(folder, "cut"))).toEqual(["events", "pages", "tokens.ndjson"]);
  await expect(requireUnused(join(folder, "cut"))).rejects.toMatchObject({ code: "export-folder-used" });
  expect(await write("repeated", page, { manifest: MANIFEST })).toEqual(MANIFEST);
});

it("pages are files in a folder that only its owner can read, and none is written twice", async () => {
  const page = { file: "pages/events-2.html", text: "<p>" };
  await write("pages", page, { manifest: MANIFEST });
  expect(await readFile(join(folder, "pages", page.file), "utf8")).toBe("<p>");
  expect((await stat(join(folder, "pages", "pages"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, "pages", page.file))).mode & 0o777).toBe(0o600);
  await expect(write("twice", page, page)).rejects.toMatchObject({ code: "EEXIST" });
});

it.each([
  "../outside.ndjson",
  "events/../../outside.json",
  "/tmp/outside.ndjson",
  "manifest.json",
  "pages/../x-1.html",
])("an export writes no file outside of its folder, nor one of another name: %s", async (file) => {
  const name = file.replaceAll(/\W/g, "-");
  await expect(write(name, { file, text: "x" })).rejects.toMatchObject({ code: "unexpected-error" });
  await expect(write(`${name}-`, { file, base64: "eA==" })).rejects.toMatchObject({ code: "unexpected-error" });
  expect(await readdir(folder)).not.toContain("outside.ndjson");
});
