/** Reads the environment and the command line; everything else takes them as values. */
import { createInterface } from "node:readline/promises";
import { createProgram } from "./cli/program.ts";
import { runProgram } from "./cli/run-program.ts";

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

export function main(args: readonly string[]): Promise<number> {
  // Whoever reads our output may leave early (`drs event list | head`), and a log's pipe may die: no reason to fall.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const program = createProgram({
    environment: process.env,
    directory: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
    onSignal: (signals, listener) => {
      for (const signal of signals) process.on(signal, listener);
    },
  });
  return runProgram(program, args);
}
