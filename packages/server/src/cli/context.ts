import type { Writable } from "node:stream";
import type { Config } from "../base/config/config.ts";
import { configFromEnvironment } from "../base/config/config-from-environment.ts";
import { escapeControls, escapeInLines } from "../base/messages/escape-controls.ts";
import type { Agent } from "../audit/audit.ts";
import type { LoginSource } from "./login.ts";
import { describeOperator, readSystemIdentity } from "./operator.ts";

/** What a process provides to a command. */
export interface Context extends LoginSource {
  /** The directory that relative paths start from. */
  readonly directory: string;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** The width of this terminal; absent if there is none. */
  readonly width?: number;
  /** Whether the command opens payloads or destroys data on an external database, without the admin API. */
  readonly isBreakGlass?: boolean;
  /** The reason of a read on the database, which its audit entries have. */
  readonly reason?: string;
  /** Whether a read on the database includes events that are excluded from analysis. */
  readonly includeRestricted?: boolean;
  /** Opens a page in the user's browser, if there is one. */
  readonly openBrowser?: (url: string) => void;
  /** Asks the person at the terminal; absent if standard input is not a terminal. */
  readonly ask?: (question: string) => Promise<string>;
  /** Ends the process at once, even if one of its threads hangs. */
  readonly kill: () => void;
  /** Calls the listener before a signal ends the process. */
  readonly onInterrupt: (listener: () => void) => void;
  /** From this call on, these signals only call the listener, and no longer end the process. */
  readonly onSignal: (signals: readonly NodeJS.Signals[], listener: (signal: NodeJS.Signals) => void) => void;
}

/** @throws configuration-invalid that names every problem. */
export const loadConfig = ({ environment, directory }: Context): Config =>
  configFromEnvironment(environment, directory);

/** The operating system's user as the agent of audit entries, for a command on the database itself. */
export function agentOf({ environment, isBreakGlass = false, reason }: Context): Agent {
  const actor = describeOperator(readSystemIdentity(), environment["SUDO_USER"]);
  return {
    actor,
    via: "direct",
    ...(isBreakGlass && { breakGlass: true }),
    ...(reason !== undefined && { reason }),
  };
}

/** Prints one line. Characters that could control a terminal or start another line are shown as escapes. */
export function print({ stdout }: Context, line: string): void {
  stdout.write(`${escapeControls(line)}\n`);
}

/** Prints a text of several lines. */
export function printText({ stdout }: Context, text: string): void {
  stdout.write(`${escapeInLines(text)}\n`);
}

/**
 * Writes exact bytes. At a terminal it shows their text with control characters as escapes, and says so on standard
 * error.
 */
export async function writeExact({ stdout, stderr, isTerminal }: Context, bytes: Uint8Array): Promise<void> {
  // guard(false): bytes of a client do not control the terminal of the person who reads them
  const shown = isTerminal ? `${escapeInLines(Buffer.from(bytes).toString())}\n` : bytes;
  await new Promise<void>((resolve, reject) => {
    stdout.write(shown, (error) => (error ? reject(error) : resolve()));
  });
  if (isTerminal)
    stderr.write("Control characters are escaped. For the exact bytes, redirect standard output to a file.\n");
}

/** Prints a value as one line of JSON. Escaped characters do not change the value. */
export function printJson(context: Context, value: object): void {
  print(context, JSON.stringify(value));
}
