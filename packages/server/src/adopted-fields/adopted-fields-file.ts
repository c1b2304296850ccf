import { readFile, stat } from "node:fs/promises";
import type { AdoptedFields } from "@device-risk-signals/contract/catalog/adopted";
import type { AdoptedFieldSet } from "../ports.ts";
import { AdoptedFieldsInvalid, parseAdoptedFields, type ReadAdoptedFields } from "./adopted-fields.ts";

/** A changed file is in force on every server after this long, and the time it takes to read it. */
const LOOK_EVERY_MS = 500;
/** Ten times what the whole catalog takes. */
const MOST_BYTES = 262_144;

export interface FollowOptions {
  /** Called once for each problem, and again only when it has changed. The fields before it stay in force. */
  readonly onInvalid: (fault: AdoptedFieldsInvalid) => void;
  /** After each look: how many paths are in force, and whether the file as it is now could be taken. */
  readonly onLook: (paths: number, valid: boolean) => void;
}

/** Reads `DRS_ADOPTED_FIELDS_FILE`. Never rejects. */
export async function readAdoptedFieldsFile(path: string): Promise<ReadAdoptedFields> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return { ok: false, problem: "is no file" };
    if (found.size > MOST_BYTES) return { ok: false, problem: `has more than ${MOST_BYTES} bytes` };
    return parseAdoptedFields(await readFile(path, "utf8"));
  } catch (fault) {
    return { ok: false, problem: `can't be read (${(fault as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

/** The adopted fields of a file, read again while the server runs. */
export class AdoptedFieldsFile implements AdoptedFieldSet {
  current: AdoptedFields;
  readonly #path: string;
  #problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(path: string, adopted: AdoptedFields) {
    this.#path = path;
    this.current = adopted;
  }

  /** @throws AdoptedFieldsInvalid */
  static async open(path: string): Promise<AdoptedFieldsFile> {
    const read = await readAdoptedFieldsFile(path);
    if (!read.ok) throw new AdoptedFieldsInvalid(`DRS_ADOPTED_FIELDS_FILE: ${path} ${read.problem}`);
    return new AdoptedFieldsFile(path, read.adopted);
  }

  follow(options: FollowOptions): void {
    options.onLook(this.current.paths.length, true);
    this.#schedule(options);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedule(options: FollowOptions): void {
    if (this.#closed) return;
    const look = (): void => {
      void this.#look(options)
        // A callback of the host that throws is no reason to stop looking.
        .catch(() => {})
        .finally(() => this.#schedule(options));
    };
    this.#timer = setTimeout(look, LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async #look({ onInvalid, onLook }: FollowOptions): Promise<void> {
    const read = await readAdoptedFieldsFile(this.#path);
    const problem = read.ok ? undefined : read.problem;
    if (read.ok) this.current = read.adopted;
    if (problem !== undefined && problem !== this.#problem) {
      const kept = `the ${this.current.paths.length} fields adopted before stay in force`;
      onInvalid(new AdoptedFieldsInvalid(`DRS_ADOPTED_FIELDS_FILE: ${this.#path} ${problem}; ${kept}`));
    }
    this.#problem = problem;
    onLook(this.current.paths.length, read.ok);
  }
}
