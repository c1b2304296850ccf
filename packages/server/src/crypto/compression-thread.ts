/** A thread that compresses events, next to the one that answers requests. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { OnError } from "../ports.ts";
import { SubmittingSlots } from "./compression-slots.ts";

/** The thread starts when this many events were to be compressed within a second. Below it, a thread saves nothing. */
const BUSY_EVENTS = 64;
const CHECK_EVERY_MS = 1_000;
const MAX_CHECKS_WITHOUT_RESULT = 3;

/** What the thread holds are a dictionary and one event at a time. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 };

/** The file of the thread has the type of this one: a package has JavaScript. */
const WORKER = new URL(`./compression-worker${extname(import.meta.url)}`, import.meta.url);

type Resolve = (compressed: Buffer | undefined) => void;

export class CompressionThread {
  readonly #onError: OnError;
  readonly #file: URL;
  readonly #slots = new SubmittingSlots();
  readonly #jobs: Resolve[] = [];
  readonly #timer: NodeJS.Timeout;
  #worker: Worker | undefined;
  /** Number of events since the last check. */
  #recent = 0;
  #checksWithoutResult = 0;
  #hasEnded = false;

  /** @param file the code of the thread. */
  constructor(onError: OnError, file = WORKER) {
    this.#onError = onError;
    this.#file = file;
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
  }

  /**
   * Compresses an event as `Compressor.compressAtOnce` does, in the thread.
   *
   * @returns `undefined`, or a promise of it, if the caller has to compress the event: few events arrive, the thread
   * has enough of them already, the event is long, or the thread has failed.
   */
  compress(bytes: Uint8Array): Promise<Buffer | undefined> | undefined {
    if (this.#hasEnded) return undefined;
    this.#recent++;
    if (!this.#worker) {
      if (this.#recent >= BUSY_EVENTS) this.#start();
      return undefined;
    }
    if (!this.#slots.submit(bytes)) return undefined;
    return new Promise((resolve) => this.#jobs.push(resolve));
  }

  /** Ends the thread. The callers compress what it has not. */
  async close(): Promise<void> {
    await this.#end();
  }

  #start(): void {
    try {
      this.#worker = new Worker(this.#file, { workerData: this.#slots.memory, resourceLimits: RESOURCE_LIMITS });
    } catch (error) {
      return this.#fail(error);
    }
    this.#worker.on("message", () => this.#takeResults());
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the thread that compresses events has ended")));
    this.#worker.unref();
  }

  #takeResults(): void {
    this.#checksWithoutResult = 0;
    for (const compressed of this.#slots.results()) this.#jobs.shift()?.(compressed);
  }

  /** A thread that compresses nothing for some seconds has failed. */
  #check(): void {
    this.#recent = 0;
    this.#checksWithoutResult = this.#jobs.length === 0 ? 0 : this.#checksWithoutResult + 1;
    // guard(false): a thread that does not progress delays no event for long
    // fails: packages/server/src/crypto/compression-thread.test.ts › does not progress
    if (this.#checksWithoutResult > MAX_CHECKS_WITHOUT_RESULT)
      this.#fail(new Error("the thread that compresses events does not progress"));
  }

  /** Another thread would probably fail, too. The server works without one. */
  #fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#onError(error, "compress events in a thread");
    void this.#end();
  }

  async #end(): Promise<void> {
    this.#hasEnded = true;
    clearInterval(this.#timer);
    for (const resolve of this.#jobs.splice(0)) resolve(undefined);
    await this.#worker?.terminate();
  }
}
