import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { checkpointDirectory } from "../../audit/checkpoint-directory.ts";
import type { OperatorError } from "../../base/errors/operator-error.ts";
import { unlinkDrafts, writeExclusively } from "../../base/files/durable-file.ts";
import { createUnwritableError, requireWritableFolder } from "../../base/files/unwritable.ts";
import { Unavailable } from "../../base/ports.ts";
import {
  createEntryExistsError,
  type ErasureJournal,
  createLossExistsError,
  type StoredText,
  createJournalUnreadableError,
} from "./journal.ts";

const TITLE = "the erasure journal";
const ENTRIES_PER_FOLDER = 1_000;
const LOSSES_FOLDER = "losses";
const CHECKPOINTS_FOLDER = "audit-checkpoints";

const FOLDER_NAME = /^\d{6,}$/;
const ENTRY_FILE = /^(\d{9,})\.json$/;

const folderOf = (sequence: number): string => String(Math.floor(sequence / ENTRIES_PER_FOLDER)).padStart(6, "0");
const fileOf = (sequence: number): string => `${String(sequence).padStart(9, "0")}.json`;

/**
 * A journal in a directory. Each entry is a file, in a folder of at most 1,000 entries, and each accepted loss is a
 * file in the folder `losses`. A file is written completely or not at all, and is never changed. Files with other names
 * are not read.
 */
export function directoryJournal(directory: string): ErasureJournal {
  const pathOf = (sequence: number): string => join(directory, folderOf(sequence), fileOf(sequence));

  async function* read(from: number): AsyncGenerator<StoredText> {
    const folders = (await list(directory)).filter(
      (name) => FOLDER_NAME.test(name) && Number(name) >= Number(folderOf(from)),
    );
    for (const folder of folders.toSorted(bySequence)) {
      for await (const stored of readFolder(join(directory, folder), from)) {
        if (folderOf(stored.sequence) === folder) yield stored;
      }
    }
  }

  async function write(path: string, text: string, exists: (cause: unknown) => OperatorError): Promise<void> {
    try {
      await unlinkDrafts(dirname(path));
      await writeExclusively(path, Buffer.from(text));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw exists(error);
      // A file that has its name is read, although it may not survive a power cut.
      if (await mayExist(path)) throw new Unavailable("the erasure journal can't be written", { cause: error });
      throw createUnwritableError(TITLE, directory, error);
    }
  }

  const checkpoints = checkpointDirectory(TITLE, join(directory, CHECKPOINTS_FOLDER));
  return {
    read,
    readCheckpoint: () => checkpoints.readCheckpoint(),
    writeCheckpoint: (note, at) => checkpoints.writeCheckpoint(note, at),
    async append(sequence, text) {
      await unlinkDrafts(dirname(pathOf(sequence - 1))).catch(() => {});
      await write(pathOf(sequence), text, (cause) => createEntryExistsError(sequence, cause));
    },
    readLosses: () => readFolder(join(directory, LOSSES_FOLDER), 1),
    appendLoss: (sequence, text) =>
      write(join(directory, LOSSES_FOLDER, fileOf(sequence)), text, (cause) => createLossExistsError(sequence, cause)),
    requireWritable: () => requireWritableFolder(TITLE, directory),
    description: `directory ${directory}`,
    close: async () => {},
  };
}

/** Whether a file is there, or can't be looked for. */
const mayExist = (path: string): Promise<boolean> =>
  readdir(dirname(path)).then(
    (names) => names.includes(basename(path)),
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
  );

/** Compares names by their numbers, because they may differ in the number of digits. */
const bySequence = (one: string, other: string): number => Number.parseInt(one, 10) - Number.parseInt(other, 10);

async function* readFolder(folder: string, from: number): AsyncGenerator<StoredText> {
  for (const name of (await list(folder)).toSorted(bySequence)) {
    const sequence = Number(ENTRY_FILE.exec(name)?.[1]);
    if (!(sequence >= from) || name !== fileOf(sequence)) continue;
    const text = await readFile(join(folder, name), "utf8").catch((cause: unknown) => {
      throw createJournalUnreadableError(cause);
    });
    yield { sequence, text };
  }
}

/**
 * Lists the names in a folder. Returns no names if the folder does not exist, which is normal before the first entry.
 * @throws Unavailable
 */
async function list(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw createJournalUnreadableError(error);
  });
}
