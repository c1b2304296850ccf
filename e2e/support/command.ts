/** `drs` in this process: what a command prints and returns, without the price of a process. */
import { Writable } from "node:stream";
import { createProgram } from "../../packages/server/src/cli/program.ts";
import { runProgram } from "../../packages/server/src/cli/run-program.ts";

type Program = Pick<ReturnType<typeof createProgram>, "commands" | "name">;

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Collector extends Writable {
  readonly chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.chunks.push(Buffer.from(chunk));
    done();
  }

  override toString(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

export async function command(environment: Record<string, string>, ...args: readonly string[]): Promise<Printed> {
  const stdout = new Collector();
  const stderr = new Collector();
  const context = { environment, directory: process.cwd(), stdout, stderr, kill: () => {}, onSignal: () => {} };
  const code = await runProgram(createProgram(context), args);
  return { code, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Every command there is, as words: groups and the program itself too. */
export function everyCommand(): (readonly string[])[] {
  const sink = new Collector();
  const program = createProgram({
    environment: {},
    directory: process.cwd(),
    stdout: sink,
    stderr: sink,
    kill: () => {},
    onSignal: () => {},
  });
  const walk = (from: Program, path: readonly string[]): (readonly string[])[] => [
    path,
    ...from.commands.flatMap((inner) => walk(inner, [...path, inner.name()])),
  ];
  return walk(program, []);
}

/** The objects of `--json`, one a line. */
export function objects<T = Record<string, unknown>>(text: string): T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
