import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Unavailable } from "../ports.ts";
import { writeExclusively } from "../files/durable-file.ts";
import { type ErasureJournal, taken } from "./journal.ts";

const PER_FOLDER = 1_000;

/** A file an entry, written whole or not at all and never again; a thousand to a folder. */
export function directoryJournal(directory: string): ErasureJournal {
  const pathOf = (sequence: number): string => {
    const folder = String(Math.floor(sequence / PER_FOLDER)).padStart(6, "0");
    return join(directory, folder, `${String(sequence).padStart(9, "0")}.json`);
  };
  return {
    async read(sequence) {
      try {
        return await readFile(pathOf(sequence), "utf8");
      } catch (fault) {
        if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw new Unavailable("the erasure journal can't be read", { cause: fault });
      }
    },
    async append(sequence, text) {
      try {
        await writeExclusively(pathOf(sequence), Buffer.from(text));
      } catch (fault) {
        if ((fault as NodeJS.ErrnoException).code === "EEXIST") throw taken(sequence, fault);
        throw new Unavailable("the erasure journal can't be written", { cause: fault });
      }
    },
    description: `directory ${directory}`,
    close: async () => {},
  };
}
