/** Reads the environment and the command line; all other code gets them as values. */
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Context } from "./cli/context.ts";
import { runProgram } from "./cli/run-program.ts";

/** A process that has done its work ends by itself within this time, unless a file operation hangs. */
const EXIT_TIMEOUT_MS = 1_500;

const PARENT_CHECK_MS = 500;

/** The width of a terminal that does not tell it. */
const DEFAULT_WIDTH = 80;

/** `process.exit` would wait for threads that hang. */
const killOwnProcess = (): void => void process.kill(process.pid, "SIGKILL");

/**
 * Resources that a process with no work left may have. If it has no others and does not end, it waits for a file
 * operation, which Node 26 does not list.
 */
const EXPECTED_RESOURCES = /^(FSReq|PipeWrap|TTYWrap)/;

function endIfFileOperationHangs(): void {
  if (process.platform === "win32") return;
  if (!process.getActiveResourcesInfo().every((name) => EXPECTED_RESOURCES.test(name))) return;
  process.stderr.write("drs: ended although a file operation hangs\n");
  killOwnProcess();
}

const INTERRUPT_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls the listener on a signal that interrupts the process, and then lets the signal end the process. */
function onInterrupt(listener: () => void): void {
  for (const signal of INTERRUPT_SIGNALS) {
    process.once(signal, () => {
      // guard(drop): a signal that ends drs also ends the command that prints keys
      listener();
      process.kill(process.pid, signal);
    });
  }
}

/** A signal to `npx` ends its shell too, but does not reach the program that the shell runs. */
function endWithNpx(): void {
  if (process.env["npm_command"] !== "exec") return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, PARENT_CHECK_MS).unref();
}

/**
 * Returns the directory for configuration files. Follows the XDG Base Directory Specification, which ignores relative
 * paths. On Windows, uses `APPDATA`.
 */
function configDirectory(): string {
  const { XDG_CONFIG_HOME: xdg = "", APPDATA: windows = "" } = process.env;
  const base = [xdg, windows].find(isAbsolute) ?? join(homedir(), ".config");
  return join(base, "drs");
}

const BROWSER_COMMANDS: Partial<Readonly<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

function openBrowser(url: string): void {
  const [program, ...args] = BROWSER_COMMANDS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { detached: true, stdio: "ignore" });
  // Ignored, because the command also prints the address of the page.
  child.on("error", () => {});
  child.unref();
}

async function askOnTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

/** A reader of the output may end early (`drs event list | head`). After any other error the command has failed. */
function reportLostOutput({ code }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.stderr.write(`The output can't be written (${code}): a part of it is lost.\n`);
  // guard(drop): a command whose output was lost fails
  process.once("exit", () => (process.exitCode ||= 1));
}

export async function main(args: readonly string[]): Promise<number> {
  // The process must not crash if the reader of a log ends early.
  process.stderr.on("error", () => {});
  process.stdout.on("error", reportLostOutput);
  // guard(drop): no server outlives `npx`
  endWithNpx();
  const context: Context = {
    environment: process.env,
    directory: process.cwd(),
    clock: Date,
    stdout: process.stdout,
    stderr: process.stderr,
    isTerminal: process.stdout.isTTY,
    ...(process.stdout.isTTY && { width: process.stdout.columns || DEFAULT_WIDTH }),
    configDirectory: configDirectory(),
    openBrowser,
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask: askOnTerminal }),
    kill: killOwnProcess,
    onInterrupt,
    onSignal: (signals, listener) => {
      for (const signal of signals) process.on(signal, listener);
    },
  };
  const code = await runProgram(context, args);
  setTimeout(endIfFileOperationHangs, EXIT_TIMEOUT_MS).unref();
  return code;
}
