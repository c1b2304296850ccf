import { CommanderError } from "commander";
import { OPERATOR_ERRORS } from "../base/errors/codes.ts";
import { escapeInLines } from "../base/messages/escape-controls.ts";
import type { Context } from "./context.ts";
import { createProgram } from "./program.ts";

const EXIT_SUCCESS = 0;

/** Runs a command line. @returns its exit code. */
export async function runProgram(context: Context, args: readonly string[]): Promise<number> {
  try {
    const program = await createProgram(context, args);
    await program.parseAsync([...args], { from: "user" });
    return EXIT_SUCCESS;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? EXIT_SUCCESS : OPERATOR_ERRORS["wrong-usage"].exitCode;
    }
    const { asOperatorError } = await import("./as-operator-error.ts");
    const { message, exitCode } = asOperatorError(error);
    context.stderr.write(`${escapeInLines(message)}\n`);
    return exitCode;
  }
}
