/**
 * Keys that a command prints. The command can be the client of any key service, so that this process needs no library
 * for that service.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type Environment, isOwnVariable } from "../../base/config/config.ts";
import { withDeadline } from "../../base/dependencies/deadline.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { Unavailable } from "../../base/ports.ts";
import type { SourceDeadline } from "./cached-keys.ts";
import { keysOfText } from "./keys-of-text.ts";

export const COMMAND_NAME = "the command in DRS_KEY_ENCRYPTION_KEY_COMMAND";

const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Runs the command without a shell, with an empty standard input and without the variables of this server. Its standard
 * error is dropped, and no error quotes its output.
 * @param command the program and its arguments.
 * @param environment the environment of this process. The command finds its credentials there.
 * @throws key-source-unusable, Unavailable
 */
export async function keysOfCommand(
  command: readonly string[],
  environment: Environment,
  deadline: SourceDeadline,
): Promise<readonly Buffer[]> {
  const expired = (): Unavailable =>
    new Unavailable(`${COMMAND_NAME} did not end within ${deadline.ms} ms`, { code: "dependency-silent" });
  const env = withoutOwnVariables(environment);
  const text = await withDeadline({ ...deadline, expired }, (signal) => outputOf(command, env, signal));
  const keys = keysOfText(text);
  if ("problem" in keys) throw unusableOutput(`printed something else than keys: each line ${keys.problem}`);
  return keys.value;
}

async function outputOf(command: readonly string[], env: Environment, signal: AbortSignal): Promise<string> {
  const child = startCommand(command, env);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    // guard(false): the output of the command is limited
    if (size > MAX_OUTPUT_BYTES) reject(unusableOutput(`printed more than ${MAX_OUTPUT_BYTES / 1024} KiB`));
    else chunks.push(chunk);
  });
  child.once("error", (error: NodeJS.ErrnoException) => reject(notStarted(error)));
  child.once("exit", (code, killedBy) => {
    // guard(false): a command that fails gives no key
    if (code !== 0) reject(unusableOutput(code === null ? `was ended by ${killedBy}` : `ended with exit code ${code}`));
    // A process that the command left behind could keep the output open.
    // guard(drop): processes that the command leaves behind are ended
    endGroup(child);
  });
  child.once("close", () => resolve(Buffer.concat(chunks).toString()));
  signal.addEventListener("abort", () => {
    reject(signal.reason);
    // The command is ended here and not only in `finally`: a server that stops does not wait for promises.
    endIfRunning(child);
  });
  try {
    return await promise;
  } finally {
    endIfRunning(child);
    child.stdout?.destroy();
  }
}

/** Starts the command in a separate process group. @throws key-source-unusable */
function startCommand([program = "", ...args]: readonly string[], env: Environment): ChildProcess {
  try {
    return spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"], detached: true });
  } catch (error) {
    throw notStarted(error as NodeJS.ErrnoException);
  }
}

/** The environment without the variables of this server, because the command must not receive its secrets. */
function withoutOwnVariables(environment: Environment): Environment {
  const passed: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(environment)) {
    // guard(false): the command gets no variable of this server
    if (isOwnVariable(name)) continue;
    passed[name] = value;
  }
  return passed;
}

function endIfRunning(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // guard(drop): a command that is late is ended, and its children with it
  endGroup(child);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process group has already ended.
  }
}

/** The error leaves out the cause, which contains the arguments. */
const notStarted = ({ code }: NodeJS.ErrnoException): OperatorError => unusableOutput(`can't be started: ${code}`);

const unusableOutput = (problem: string): OperatorError =>
  new OperatorError(
    "key-source-unusable",
    `${COMMAND_NAME} ${problem}. Run it by hand: its output is never shown here`,
  );
