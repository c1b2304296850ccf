import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, replaceFile } from "../base/files/durable-file.ts";
import { createUnwritableError, requireWritableFolder } from "../base/files/unwritable.ts";
import { Unavailable } from "../base/ports.ts";
import { type CheckpointSink, dayOf } from "./checkpoint-sink.ts";

const CHECKPOINT_FILE = /^\d{4}-\d{2}-\d{2}\.checkpoint$/;

/** A directory as a sink: it has a file for each day, with the last checkpoint of the day. */
export function checkpointDirectory(name: string, directory: string): CheckpointSink {
  const unavailable = (cause: unknown): never => {
    throw new Unavailable(`${name} can't be read`, { cause });
  };
  return {
    name,
    async readCheckpoint() {
      const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return [];
        return unavailable(error);
      });
      const last = names
        .filter((file) => CHECKPOINT_FILE.test(file))
        .toSorted()
        .at(-1);
      return last === undefined ? undefined : readFile(join(directory, last), "utf8").catch(unavailable);
    },
    async writeCheckpoint(note, at) {
      try {
        await makeFolder(directory);
        await replaceFile(join(directory, `${dayOf(at)}.checkpoint`), Buffer.from(note));
      } catch (error) {
        throw createUnwritableError(name, directory, error);
      }
    },
    requireWritable: () => requireWritableFolder(name, directory),
  };
}
