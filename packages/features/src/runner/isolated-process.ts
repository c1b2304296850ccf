import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { parsed } from "./answers.ts";

/** Maximum number of characters of an answer. A batch of 1,000 events with 100 features of long texts has half of it. */
const MAX_ANSWER = 64 * 1024 * 1024;
/** The maximum heap of a process, in megabytes. The process ends if a definition needs more. */
const HEAP_MB = 256;
/**
 * The maximum memory of a process on Linux, in kilobytes. Its heap, its code and what it needs outside the heap, such as
 * the text of an answer, are together smaller. A text that a definition makes can be larger than the heap.
 */
const MAX_MEMORY_KB = 512 * 1024;
const LOOK_EVERY_MS = 20;
/** A line that begins with this is a part of an answer, before its last line. */
const PART = "+";

/**
 * A child process of Node without environment variables and child processes, in the root folder. On Node 26 it has no
 * network. It reads and writes JSON, one text a line, and answers each text with one. Before an answer it may write
 * parts of it. Its program watches itself (`sandbox/watch.js`), so that it ends after this process, even
 * if a definition in it does not end.
 */
export class IsolatedProcess {
  readonly #process: ChildProcess | undefined;
  #received: string[] = [];
  #size = 0;
  #waiting: ((line: string | undefined) => void) | undefined;
  #onData: (() => void) | undefined;
  #hasEnded = false;
  #onPart: ((line: string) => void) | undefined;

  /** @param args the arguments of Node: permissions and the program. */
  constructor(args: readonly string[]) {
    this.#process = start(args);
    if (!this.#process) {
      this.#hasEnded = true;
      return;
    }
    const { pid, stdin, stdout } = this.#process;
    this.#process.on("error", () => this.#end());
    // The output of the process may end after the process.
    this.#process.on("close", () => this.#end());
    // A process that could not be started has neither. An error of `stdin` precedes the end of the process.
    stdin?.on("error", () => {});
    stdout?.setEncoding("utf8").on("data", (chunk: string) => this.#receive(chunk));
    if (pid === undefined) return;
    endFirst(pid);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * @param deadlineMs the time limit of the answer. It begins again with each chunk of it.
   * @param onPart called with each part of the answer; `undefined` for a part that is no JSON text.
   * @returns the parsed answer; `undefined` if the process ended, needed too much memory or did not answer in time, or
   * if the answer is no JSON text. The caller then kills the process.
   */
  async ask(message: unknown, deadlineMs: number, onPart: (part: unknown) => void = () => {}): Promise<unknown> {
    if (this.#hasEnded) return undefined;
    const text = `${JSON.stringify(message)}\n`;
    const answer = new Promise<string | undefined>((resolve) => (this.#waiting = resolve));
    let wasHeard = false;
    const endUnlessHeard = (): void => {
      // Without the flag, a busy thread would end a process whose answer has arrived: timers run before it is read.
      if (wasHeard) deadline.refresh();
      else this.#end();
      wasHeard = false;
    };
    const afterReading = (): unknown => setImmediate(() => setImmediate(() => isPending && endUnlessHeard()));
    let isPending = true;
    const deadline = setTimeout(afterReading, deadlineMs);
    const look = setInterval(() => this.#endIfTooLarge(), LOOK_EVERY_MS);
    this.#onPart = (line) => onPart(parsed(line));
    this.#onData = () => {
      wasHeard = true;
      deadline.refresh();
    };
    this.#process?.stdin?.write(text);
    const line = await answer;
    isPending = false;
    this.#onData = this.#onPart = undefined;
    clearTimeout(deadline);
    clearInterval(look);
    return line === undefined ? undefined : parsed(line);
  }

  async kill(): Promise<void> {
    if (!this.#process) return;
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  #receive(chunk: string): void {
    this.#onData?.();
    this.#received.push(chunk);
    this.#size += chunk.length;
    if (this.#size > MAX_ANSWER) {
      this.#received = [];
      return this.#end();
    }
    if (!chunk.includes("\n")) return;
    const lines = this.#received.join("").split("\n");
    const rest = lines.pop() ?? "";
    this.#received = [rest];
    this.#size = rest.length;
    for (const line of lines) {
      if (line.startsWith(PART)) this.#onPart?.(line.slice(PART.length));
      else this.#waiting?.(line);
    }
  }

  #endIfTooLarge(): void {
    // guard(false): a process that needs far more than its heap is ended
    if (memoryOf(this.#process?.pid) > MAX_MEMORY_KB) this.#end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#waiting?.(undefined);
  }
}

/** @returns `undefined` if the system has no memory for a process. */
function start(args: readonly string[]): ChildProcess | undefined {
  const flags = [
    "--permission",
    // The program drops this permission when it has started the thread that watches it.
    "--allow-worker",
    "--disallow-code-generation-from-strings",
    `--max-old-space-size=${HEAP_MB}`,
  ];
  try {
    return spawn(process.execPath, [...flags, ...args, String(process.pid)], {
      env: {},
      cwd: "/",
      stdio: ["pipe", "pipe", "ignore"],
    });
  } catch {
    return undefined;
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

/** The memory of a process in kilobytes; 0 where it can't be read. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
