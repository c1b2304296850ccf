import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import type { SandboxBundle } from "./input-layout.ts";

const text = (name: string): string => readFileSync(new URL(`../sandbox/${name}`, import.meta.url), "utf8");
export const REALM = text("realm.js");
const PROGRAM = `const REALM = ${JSON.stringify(REALM)};\n${text("child.js")}`;

/** The maximum heap of a child process, in megabytes. The process ends if a definition needs more. */
const HEAP_MB = 256;
const FLAGS = [
  "--permission",
  "--disallow-code-generation-from-strings",
  `--max-old-space-size=${HEAP_MB}`,
  "--eval",
  PROGRAM,
];

export interface Loaded {
  /** The index of a bundle that can't be loaded: its text is no program, or the program results in no function. */
  readonly broken?: number;
}
export interface Computed {
  readonly slow: readonly (readonly [feature: number, event: number])[];
  /** JSON of `Cell[][]`. */
  readonly cells: string;
}

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

  load(bundles: readonly SandboxBundle[], budget: number, deadlineMs: number): Promise<Loaded | undefined> {
    return this.#ask({ bundles, budget }, deadlineMs);
  }

  /**
   * @param skip the indexes of features that are not computed
   * @returns `undefined` if the child ended, or did not answer in time
   */
  compute(batch: string, size: number, skip: readonly number[], deadlineMs: number): Promise<Computed | undefined> {
    return this.#ask({ batch, size, skip }, deadlineMs);
  }

  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (this.#process.pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  async #ask<Answer>(message: Message, deadlineMs: number): Promise<Answer | undefined> {
    if (this.#hasEnded) return undefined;
    const answer = new Promise<string | undefined>((resolve) => (this.#waiting = resolve));
    const deadline = setTimeout(() => this.#end(), deadlineMs);
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
    const line = await answer;
    clearTimeout(deadline);
    return line === undefined ? undefined : (JSON.parse(line) as Answer);
  }

  #receive(chunk: string): void {
    this.#received += chunk;
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
