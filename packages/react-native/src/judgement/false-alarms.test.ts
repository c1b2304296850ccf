import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCorpus } from "../../evidence/read.ts";
import { type Patch, PATCHES } from "../../tools/false-alarms/patches.ts";

const run = promisify(execFile);
const PACKAGE = join(import.meta.dirname, "../..");
const PARTS = ["evidence", "src/judgement", "src/native", "src/entries.ts", "tools/false-alarms", "package.json"];

const corpus = readCorpus();
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "drs-false-alarms-"));
  for (const part of PARTS) await cp(join(PACKAGE, part), join(copy, part), { recursive: true });
});

afterAll(async () => await rm(copy, { recursive: true, force: true }));

async function failingCases(): Promise<string[]> {
  const { stdout } = await run(process.execPath, [join(copy, "tools/false-alarms/failing-cases.ts")]);
  return JSON.parse(stdout) as string[];
}

/** The cases that fail while a patch is in its place. */
async function noticedBy({ edits }: Patch): Promise<string[]> {
  const files = new Set(edits.map(({ file }) => file));
  const originals = await Promise.all(
    [...files].map(async (file) => {
      const path = join(copy, "src/judgement", file);
      return { file, path, source: await readFile(path, "utf8") };
    }),
  );
  try {
    for (const { file, path, source } of originals) {
      let patched = source;
      for (const { find, replace } of edits.filter((edit) => edit.file === file)) {
        expect(patched.split(find), `${find} in ${file}`).toHaveLength(2);
        patched = patched.replace(find, () => replace);
      }
      await writeFile(path, patched);
    }
    return await failingCases();
  } finally {
    for (const { path, source } of originals) await writeFile(path, source);
  }
}

test("without a patch no case fails", async () => {
  expect(await failingCases()).toEqual([]);
});

test.each(PATCHES)("$alarm: without the guard «$guard» a case of it fails", async (patch) => {
  const alarms = (await noticedBy(patch)).map((name) => corpus.get(name)?.falseAlarm);
  expect(alarms).toContain(patch.alarm);
});

test("every alarm that a rule of ours guards against has a patch", () => {
  const recorded = [...corpus.values()].flatMap(({ falseAlarm }) => falseAlarm ?? []);
  // Native code reads developer options as they are told: no rule of ours is between.
  const guarded = new Set(recorded.filter((alarm) => alarm !== "developer options hidden"));
  expect(new Set(PATCHES.map(({ alarm }) => alarm))).toEqual(guarded);
});
