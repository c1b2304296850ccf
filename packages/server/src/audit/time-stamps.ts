/** Gets time stamps for checkpoints, and keeps both in a folder. */
import { randomBytes, X509Certificate } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../base/errors/operator-error.ts";
import { makeFolder, replaceFile } from "../base/files/durable-file.ts";
import { Unavailable } from "../base/ports.ts";
import { hourOf } from "./checkpoint-log.ts";
import { openTimeStamp, type TimeStamp, timeStampQuery } from "./log/time-stamp.ts";

export interface TimeStampOptions {
  /** The address of the authority. */
  readonly url: string;
  readonly directory: string;
  /** A file of trusted PEM certificates. One of them must be the authority's certificate, or have signed it. */
  readonly caFile: string;
  /** Time limit of a query. */
  readonly timeoutMs: number;
}

/** A checkpoint and the content of its time stamp. */
export interface StampedCheckpoint {
  /** The hour, such as `2027-01-31T08`. */
  readonly name: string;
  readonly note: string;
  readonly stamp: TimeStamp;
}

const TIME_STAMP_FILE = /^(\d{4}-\d{2}-\d{2}T\d{2})\.tsr$/;
const NONCE_BYTES = 16;
const MAX_REPLY_BYTES = 64 * 1024;
/** The minimum time until a failed query is repeated. */
const RETRY_MS = 60_000;
const PEM_CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Gets a time stamp for the first checkpoint of each hour. */
export class TimeStamps {
  readonly #options: TimeStampOptions;
  readonly #trusted: readonly X509Certificate[];
  #stamped = "";
  #notBefore = 0;

  /** @throws time-stamps-unusable */
  static async open(options: TimeStampOptions): Promise<TimeStamps> {
    return new TimeStamps(options, await readCertificates(options.caFile));
  }

  private constructor(options: TimeStampOptions, trusted: readonly X509Certificate[]) {
    this.#options = options;
    this.#trusted = trusted;
  }

  /**
   * Keeps the checkpoint with a time stamp, unless a checkpoint of the same hour is kept.
   * @param note the latest checkpoint. @throws Unavailable, time-stamps-unusable
   */
  async stamp(note: string, at: Date): Promise<void> {
    const hour = hourOf(at);
    if (hour === this.#stamped || at.getTime() < this.#notBefore) return;
    this.#notBefore = at.getTime() + RETRY_MS;
    const path = join(this.#options.directory, hour);
    if (!(await exists(`${path}.tsr`))) {
      const [message, nonce] = [Buffer.from(note), randomBytes(NONCE_BYTES)];
      const reply = await this.#ask(timeStampQuery(message, nonce));
      const stamp = openTimeStamp(reply, { message, nonce, trusted: this.#trusted });
      // guard(false): a reply that proves nothing is not kept
      // fails: packages/server/src/audit/time-stamps.test.ts › keeps no reply
      if ("problem" in stamp) throw unusable(`a reply of the time-stamp authority is refused: ${stamp.problem}`);
      await this.#keep(path, message, reply);
    }
    [this.#stamped, this.#notBefore] = [hour, 0];
  }

  /** The kept checkpoints, oldest first. @throws Unavailable */
  async read(): Promise<readonly StampedCheckpoint[]> {
    const { directory } = this.#options;
    const unavailable = (cause: unknown): never => {
      throw new Unavailable("the time stamps of the audit can't be read", { cause });
    };
    const files = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] =>
      error.code === "ENOENT" ? [] : unavailable(error),
    );
    const keptCheckpoints: StampedCheckpoint[] = [];
    for (const file of files.toSorted()) {
      const name = TIME_STAMP_FILE.exec(file)?.[1];
      if (name === undefined) continue;
      const path = join(directory, name);
      const [message, reply] = await Promise.all([
        readFile(`${path}.checkpoint`).catch(unavailable),
        readFile(`${path}.tsr`).catch(unavailable),
      ]);
      keptCheckpoints.push({
        name,
        note: message.toString(),
        stamp: openTimeStamp(reply, { message, trusted: this.#trusted }),
      });
    }
    return keptCheckpoints;
  }

  async #ask(query: Buffer): Promise<Buffer> {
    const { url, timeoutMs } = this.#options;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/timestamp-query" },
        body: new Uint8Array(query),
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      return await readLimited(response);
    } catch (cause) {
      throw new Unavailable("the time-stamp authority gave no reply", { cause });
    }
  }

  async #keep(path: string, message: Buffer, reply: Buffer): Promise<void> {
    try {
      await makeFolder(this.#options.directory);
      // A checkpoint without a time stamp does not count; the next one of the hour replaces it.
      await replaceFile(`${path}.checkpoint`, message);
      await replaceFile(`${path}.tsr`, reply);
    } catch (cause) {
      throw new Unavailable("the time stamps of the audit can't be written", { cause });
    }
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function readLimited(response: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MAX_REPLY_BYTES) throw new Error("the reply is too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function readCertificates(path: string): Promise<readonly X509Certificate[]> {
  try {
    const certificates = (await readFile(path, "utf8")).match(PEM_CERTIFICATES) ?? [];
    if (certificates.length > 0) return certificates.map((pem) => new X509Certificate(pem));
  } catch (cause) {
    throw unusable(`the certificates of time-stamp authorities can't be read from ${path}`, cause);
  }
  throw unusable(`${path} has no certificate in PEM`);
}

const unusable = (message: string, cause?: unknown): OperatorError =>
  new OperatorError("time-stamps-unusable", message, { cause });
