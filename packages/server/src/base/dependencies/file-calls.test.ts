/**
 * Tests with a directory in which single files hang. A hanging file is a named pipe, which can be opened only when it
 * has a writer.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../e2e/support/temporary-folder.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { directoryJournal } from "../../lifecycle/journal/directory-journal.ts";
import type { StoredText } from "../../lifecycle/journal/journal.ts";
import { memoryKeyStore } from "../../store/crypto/memory-key-store.fixture.ts";
import type { Config } from "../config/config.ts";
import { boundedKeySource, boundedKeyStore } from "../../store/crypto/bounded-key-store.ts";
import { openLocalKeySource } from "../../store/crypto/key-encryption-key.ts";
import { journalWithDeadline } from "../../lifecycle/journal/journal-with-deadline.ts";
import { checkpointSinks } from "../../runtime/checkpoint-sinks.ts";
import { Dependencies } from "./dependencies.ts";
import { boundedBy } from "./file-calls.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
});

afterAll(() => folder.remove());

/** In both folders, entry 1 is a file, and entry 2 hangs. */
async function hangingJournal(): Promise<{
  readonly path: string;
  readonly release: (index: number) => Promise<void>;
}> {
  const path = join(folder.path, randomUUID());
  const pipes: string[] = [];
  for (const inner of ["000000", "losses"]) {
    await mkdir(join(path, inner), { recursive: true });
    await writeFile(join(path, inner, "000000001.json"), "one");
    pipes.push(join(path, inner, "000000002.json"));
  }
  execFileSync("mkfifo", pipes);
  const release = async (index: number): Promise<void> => (await open(pipes[index] ?? "", "w")).close();
  return { path, release };
}

test("the deadline applies to each file of a journal, and not to all files together", async () => {
  const { path, release } = await hangingJournal();
  const journal = journalWithDeadline(directoryJournal(path), new Dependencies(400).get("erasure_journal"));
  let sequence = 7;
  for (const [index, read] of [() => journal.read(1), () => journal.readLosses()].entries()) {
    const texts: StoredText[] = [];
    const reading = (async () => {
      for await (const stored of read()) texts.push(stored);
    })();
    await expect(reading).rejects.toMatchObject({ code: "dependency-silent" });
    expect(texts).toEqual([{ sequence: 1, text: "one" }]);
    await release(index);
    // An attempt that exceeds the deadline may still write its file. A file can't be written twice, so each attempt has
    // a number of its own.
    await until(
      async () =>
        await journal.appendLoss(sequence++, "").then(
          () => true,
          () => false,
        ),
    );
  }
});

test("reading many secrets may take longer than the deadline", async () => {
  const inner = {
    ...memoryKeyStore().store,
    findMissing: async (ids: readonly string[]) => {
      await sleep(5 * ids.length);
      return ids.slice(0, 1);
    },
  };
  const ids = Array.from({ length: 60 }, (_, index) => String(index));
  const store = boundedKeyStore(inner, boundedBy(new Dependencies(200).get("key_store")));
  expect(await store.findMissing(ids)).toEqual(ids);
});

test("a directory that hangs blocks at most two threads, and is used again when it answers", async () => {
  const answers: (() => void)[] = [];
  const inner = {
    ...memoryKeyStore().store,
    readWatermark: () => new Promise<string>((resolve) => answers.push(() => resolve("mark"))),
  };
  const store = boundedKeyStore(inner, boundedBy(new Dependencies(20).get("key_store")));
  const silent = { code: "dependency-silent" };
  const calls = Array.from({ length: 6 }, () => expect(store.readWatermark("mark")).rejects.toMatchObject(silent));
  await Promise.all(calls);
  await expect(store.readWatermark("mark")).rejects.toMatchObject(silent);
  expect(answers).toHaveLength(2);
  for (const answer of answers) answer();
  await sleep(0);
  expect(answers, "a call that was given up does not begin").toHaveLength(2);
  const answered = store.readWatermark("mark");
  answers[2]?.();
  expect(await answered).toBe("mark");
});

test("each of many calls gets its own answer, although only two run at a time", async () => {
  const inner = { ...memoryKeyStore().store, readWatermark: async (name: string) => name };
  const store = boundedKeyStore(inner as never, boundedBy(new Dependencies(1_000).get("key_store")));
  const names = Array.from({ length: 50 }, (_, index) => String(index));
  expect(await Promise.all(names.map((name) => store.readWatermark(name as never)))).toEqual(names);
});

test("a directory of checkpoints that hangs has the deadline, and is used again when it answers", async () => {
  const path = join(folder.path, randomUUID());
  await mkdir(path);
  const pipe = join(path, "2026-01-31.checkpoint");
  execFileSync("mkfifo", [pipe]);
  const dependencies = new Dependencies(50);
  const config = { audit: { checkpointDirectory: path } } as Config;
  const [sink] = checkpointSinks({ config, dependencies }, undefined);
  const silent = { code: "dependency-silent" };
  await expect(sink?.readCheckpoint()).rejects.toMatchObject(silent);
  await expect(sink?.writeCheckpoint("a note", new Date("2026-02-01"))).rejects.toMatchObject(silent);
  expect(dependencies.health).toMatchObject([{ name: "audit_checkpoints", problems: ["does not answer"] }]);
  await (await open(pipe, "r+")).close();
  await until(async () => {
    const written = sink?.writeCheckpoint("a note", new Date("2026-02-01"));
    return (await written?.then(() => sink?.readCheckpoint()).catch(() => undefined)) === "a note";
  });
  expect(dependencies.health).toMatchObject([{ problems: [] }]);
});

test("the file of the key-encryption key has the deadline", async () => {
  const path = join(folder.path, randomUUID());
  execFileSync("mkfifo", [path]);
  const bounded = boundedBy(new Dependencies(50).get("key_store"));
  const keys = { encryptionKeyFile: path } as Config["keys"];
  await expect(bounded(() => openLocalKeySource(keys))).rejects.toMatchObject({ code: "dependency-silent" });
  const source = boundedKeySource(
    { read: () => new Promise(() => {}), advice: "", description: "" },
    boundedBy(new Dependencies(50).get("key_store")),
  );
  await expect(source.read()).rejects.toMatchObject({ code: "dependency-silent" });
  await (await open(path, "r+")).close();
});

test("callers that come at the same time share a read of the key-encryption keys, which begins after them", async () => {
  let reads = 0;
  const read = async (): Promise<readonly Buffer[]> => [Buffer.of(++reads)];
  const source = boundedKeySource({ read, advice: "", description: "" }, (call) => call());
  const first = [source.read(), source.read()];
  expect(reads).toBe(0);
  expect(await Promise.all(first)).toEqual([[Buffer.of(1)], [Buffer.of(1)]]);
  expect(await source.read()).toEqual([Buffer.of(2)]);
});
