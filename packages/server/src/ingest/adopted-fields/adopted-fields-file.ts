import { readFile, stat } from "node:fs/promises";
import type { AdoptedFields } from "@device-risk-signals/contract/catalog/adopted";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { withDeadline } from "../../base/dependencies/deadline.ts";
import { limitHanging } from "../../base/dependencies/file-calls.ts";
import { Loop } from "../../base/loop.ts";
import { type AdoptedFieldSet, Unavailable } from "../../base/ports.ts";
import { parseAdoptedFields, type ReadAdoptedFields } from "./adopted-fields.ts";

/** Every server applies a changed file within this time, plus the time to read it. */
const LOOK_EVERY_MS = 500;
/** The maximum size of the file: ten times the size of a list of all fields of the catalog. */
const MAX_FILE_BYTES = 262_144;

export interface FollowOptions {
  /** Called once for each problem, and again only when it has changed. The previous fields stay active. */
  readonly onInvalid: (error: OperatorError) => void;
  /** Called after each read: the number of active paths, and whether the file is valid now. */
  readonly onLook: (paths: number, valid: boolean) => void;
}

/** The deadline for a read of the file, which may be on a slow network file system. A slower read is reported. */
const READ_WITHIN_MS = 1_000;

type Reader = () => Promise<ReadAdoptedFields>;

/** Reads the file once. Never rejects. */
export const readAdoptedFieldsFile = (path: string): Promise<ReadAdoptedFields> => boundedReader(() => readNow(path))();

async function readNow(path: string): Promise<ReadAdoptedFields> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return { ok: false, problem: "is no file" };
    if (found.size > MAX_FILE_BYTES) return { ok: false, problem: `has more than ${MAX_FILE_BYTES} bytes` };
    return parseAdoptedFields(await readFile(path, "utf8"));
  } catch (error) {
    return { ok: false, problem: `can't be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

function boundedReader(read: Reader, ms = READ_WITHIN_MS): Reader {
  const problem = `can't be read (no answer within ${ms} ms)`;
  const expired = (): Unavailable => new Unavailable(problem, { code: "dependency-silent" });
  const bounded = limitHanging((call) => withDeadline({ ms, expired }, call), expired);
  return () => bounded(read).catch((): ReadAdoptedFields => ({ ok: false, problem }));
}

/** The adopted fields of a file, read again while the server runs. */
export class AdoptedFieldsFile implements AdoptedFieldSet {
  current: AdoptedFields;
  readonly #path: string;
  readonly #read: Reader;
  #problem: string | undefined;
  #loop: Loop | undefined;

  private constructor(path: string, read: Reader, adopted: AdoptedFields) {
    this.#path = path;
    this.#read = read;
    this.current = adopted;
  }

  /** @param read reads the file, without a deadline. @throws adopted-fields-invalid */
  static async open(path: string, read: Reader = () => readNow(path), withinMs?: number): Promise<AdoptedFieldsFile> {
    const bounded = boundedReader(read, withinMs);
    const first = await bounded();
    if (!first.ok)
      throw new OperatorError("adopted-fields-invalid", `DRS_ADOPTED_FIELDS_FILE: ${path} ${first.problem}`);
    return new AdoptedFieldsFile(path, bounded, first.adopted);
  }

  follow(options: FollowOptions): void {
    options.onLook(this.current.paths.length, true);
    this.#loop = new Loop(() => this.#look(options), {
      everyMs: LOOK_EVERY_MS,
      // A callback of the host may throw; the file is still read again.
      onError: () => {},
    });
  }

  async close(): Promise<void> {
    await this.#loop?.close();
  }

  async #look({ onInvalid, onLook }: FollowOptions): Promise<void> {
    const read = await this.#read();
    const problem = read.ok ? undefined : read.problem;
    if (read.ok) this.current = read.adopted;
    if (problem !== undefined && problem !== this.#problem) {
      const kept = `the ${this.current.paths.length} fields adopted before stay active`;
      onInvalid(
        new OperatorError("adopted-fields-invalid", `DRS_ADOPTED_FIELDS_FILE: ${this.#path} ${problem}; ${kept}`),
      );
    }
    this.#problem = problem;
    onLook(this.current.paths.length, read.ok);
  }
}
