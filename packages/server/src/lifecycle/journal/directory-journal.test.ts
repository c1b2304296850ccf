import { randomUUID } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { Unavailable } from "../../base/ports.ts";
import { AppendWatch } from "./append-watch.ts";
import { directoryJournal } from "./directory-journal.ts";
import { journalContract } from "./journal.contract.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
});

afterAll(() => folder.remove());

const newPath = (): string => join(folder.path, randomUUID());

journalContract("a journal in a directory", async () => {
  const path = newPath();
  return { open: async () => directoryJournal(path) };
});

test("the next append removes files that a killed writer left, and neither removes nor reads files of other programs", async () => {
  const path = newPath();
  const journal = directoryJournal(path);
  await journal.append(999, "last of the folder");
  const inFolder = join(path, "000000");
  await writeFile(join(inFolder, `.${randomUUID()}`), "a draft");
  await writeFile(join(inFolder, "000000999.json.copy"), "another's");
  await writeFile(join(inFolder, "000001000.json"), "in the wrong folder");
  await mkdir(join(path, "lost+found"));
  await journal.append(1_000, "first of the next folder");
  expect((await readdir(inFolder)).toSorted()).toEqual(["000000999.json", "000000999.json.copy", "000001000.json"]);
  const texts: string[] = [];
  for await (const { text } of journal.read(1)) texts.push(text);
  expect(texts).toEqual(["last of the folder", "first of the next folder"]);
});

test("a journal whose path is no directory is unavailable", async () => {
  const path = newPath();
  await writeFile(path, "");
  const journal = directoryJournal(path);
  await expect(Array.fromAsync(journal.readLosses())).rejects.toBeInstanceOf(Unavailable);
  await expect(journal.append(1, "text")).rejects.toBeInstanceOf(Unavailable);
  await expect(journal.requireWritable()).rejects.toMatchObject({ detail: { problem: expect.stringContaining(path) } });
});

test("an order whose entry could not be written is not called unconfirmed, and one whose entry may exist is", async () => {
  const path = newPath();
  await writeFile(path, "");
  const watch = new AppendWatch();
  const unwritten: unknown = await watch
    .watch(directoryJournal(path))
    .append(1, "text")
    .catch((error: unknown) => error);
  expect(watch.explain(unwritten)).toMatchObject({
    code: "dependency-unusable",
    message: expect.stringContaining("nothing was changed"),
  });
  const uncertain = new Unavailable("cut off");
  await watch
    .watch({ ...directoryJournal(path), append: () => Promise.reject(uncertain) })
    .append(1, "text")
    .catch(() => {});
  expect(watch.explain(uncertain)).toMatchObject({ code: "order-unconfirmed" });
});
