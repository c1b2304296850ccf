import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";

/** Maximum number of characters of an answer. A batch of 1,000 events with 100 features of long texts has half of it. */
const MAX_ANSWER = 64 * 1024 * 1024;
/** The maximum heap of a process, in megabytes. The process ends if a definition needs more. */
const HEAP_MB = 256;
/**
 * The maximum memory of a process on Linux, in bytes. Its heap, its code and what it needs outside the heap, such as the
 * text of an answer, are together smaller. A text that a definition makes can be larger than the heap.
 */
const MAX_MEMORY = 512 * 1024 * 1024;
const LOOK_EVERY_MS = 20;
const PAGE_BYTES = 4096;

/**
 * A child process of Node without environment variables, network and child processes, in the root folder. It reads and
 * writes JSON, one text a line, and answers each text with one.
 */
export class IsolatedProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  #received = "";
  #waiting: ((line: string | undefined) => void) | undefined;
  #hasEnded = false;

  /** @param args the arguments of Node: permissions and the program. */
  constructor(args: readonly string[]) {
    const flags = ["--permission", "--disallow-code-generation-from-strings", `--max-old-space-size=${HEAP_MB}`];
    this.#process = spawn(process.execPath, [...flags, ...args], {
      env: {},
      cwd: "/",
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#process.stdin.on("error", () => this.#end());
    this.#process.on("error", () => this.#end());
    this.#process.on("exit", () => this.#end());
    this.#process.stdout.setEncoding("utf8").on("data", (chunk: string) => this.#receive(chunk));
    if (this.#process.pid !== undefined) endFirst(this.#process.pid);
  }

  /**
   * @returns the parsed answer; `undefined` if the process ended, needed too much memory or did not answer in time, or if
   * the answer is no JSON text. The caller then kills the process.
   */
  async ask(message: unknown, deadlineMs: number): Promise<unknown> {
    if (this.#hasEnded) return undefined;
    const answer = new Promise<string | undefined>((resolve) => (this.#waiting = resolve));
    const deadline = setTimeout(() => this.#end(), deadlineMs);
    // guard(drop): a process that needs far more than its heap is ended
    // fails: packages/features/src/runner/runner.test.ts › needs far more memory
    const look = setInterval(() => memoryOf(this.#process.pid) > MAX_MEMORY && this.#end(), LOOK_EVERY_MS);
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
    const line = await answer;
    clearTimeout(deadline);
    clearInterval(look);
    try {
      return line === undefined ? undefined : JSON.parse(line);
    } catch {
      return undefined;
    }
  }

  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (this.#process.pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
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

/** Lets Linux end this process before others if memory runs out. */
function endFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // Other systems have no such file, and in a container it may be read-only. The limits above still hold.
  }
}

/** The memory of a process in bytes; 0 where it can't be read. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
