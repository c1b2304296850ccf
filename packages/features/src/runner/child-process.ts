import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { type Computed, readComputed } from "./answers.ts";
import type { SandboxBundle } from "./input-layout.ts";

const text = (name: string): string => readFileSync(new URL(`../sandbox/${name}`, import.meta.url), "utf8");
export const REALM = text("realm.js");
const PROGRAM = `"use strict";\nconst REALM = ${JSON.stringify(REALM)};\n${text("child.js")}`;

/** The maximum heap of a child process, in megabytes. The process ends if a definition needs more. */
const HEAP_MB = 256;
const FLAGS = [
  "--permission",
  "--disallow-code-generation-from-strings",
  // A definition that reaches an object of the main realm can't change what the main program uses.
  "--frozen-intrinsics",
  `--max-old-space-size=${HEAP_MB}`,
  "--eval",
  PROGRAM,
];

export interface Loaded {
  /** The index of a bundle that can't be loaded: its text is no program, or the program results in no function. */
  readonly broken?: number;
}

/**
 * Maximum number of characters of an answer. For 1,000 events with 100 features of long texts, half of it is enough.
 */
const MAX_ANSWER = 64 * 1024 * 1024;

type Message =
  | { readonly bundles: readonly SandboxBundle[]; readonly budget: number }
  | { readonly batch: string; readonly size: number; readonly skip: readonly number[] };

/** A child process of Node that has no permissions and no environment variables, and runs in the root folder. */
export class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  #received = "";
  #waiting: ((line: string | undefined) => void) | undefined;
  #hasEnded = false;

  constructor() {
    this.#process = spawn(process.execPath, FLAGS, { env: {}, cwd: "/", stdio: ["pipe", "pipe", "ignore"] });
    this.#process.stdin.on("error", () => this.#end());
    this.#process.on("error", () => this.#end());
    this.#process.on("exit", () => this.#end());
    this.#process.stdout.setEncoding("utf8").on("data", (chunk: string) => this.#receive(chunk));
  }

  async load(bundles: readonly SandboxBundle[], budget: number, deadlineMs: number): Promise<Loaded | undefined> {
    const answer = (await this.#ask({ bundles, budget }, deadlineMs)) as Partial<Record<string, unknown>> | undefined;
    if (answer?.["loaded"] === true) return {};
    const broken = answer?.["broken"];
    return typeof broken === "number" && bundles[broken] ? { broken } : undefined;
  }

  /**
   * @param size the number of events
   * @param features the number of features, including those of `skip`
   * @param skip the indexes of features that are not computed
   * @returns `undefined` if the child ended, did not answer in time, or its answer is invalid
   */
  async compute(
    batch: string,
    { size, features, skip }: { readonly size: number; readonly features: number; readonly skip: readonly number[] },
    deadlineMs: number,
  ): Promise<Computed | undefined> {
    return readComputed(await this.#ask({ batch, size, skip }, deadlineMs), size, features);
  }

  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (this.#process.pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  /** @returns the parsed answer; `undefined` if there is none, or if it is no JSON text. */
  async #ask(message: Message, deadlineMs: number): Promise<unknown> {
    if (this.#hasEnded) return undefined;
    const answer = new Promise<string | undefined>((resolve) => (this.#waiting = resolve));
    const deadline = setTimeout(() => this.#end(), deadlineMs);
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
    const line = await answer;
    clearTimeout(deadline);
    try {
      return line === undefined ? undefined : JSON.parse(line);
    } catch {
      return undefined;
    }
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    if (this.#received.length > MAX_ANSWER) {
      this.#received = "";
      return this.#end();
    }
    if (!this.#received.endsWith("\n")) return;
    const line = this.#received;
    this.#received = "";
    this.#waiting?.(line);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#waiting?.(undefined);
  }
}
