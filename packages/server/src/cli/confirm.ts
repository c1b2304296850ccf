import { OperatorError } from "../base/errors/operator-error.ts";
import type { Context } from "./context.ts";

export interface Confirmation {
  /** A sentence that says what the command will do. */
  readonly what: string;
  /** Whether the command line has `--yes`. */
  readonly yes: boolean | undefined;
}

/**
 * Asks the user to confirm what the command will do.
 * @throws wrong-usage if there is neither a terminal nor `--yes`, or if the answer is not "yes".
 */
export async function confirm({ ask }: Context, { what, yes }: Confirmation): Promise<void> {
  if (yes) return;
  // guard(drop): nothing is destroyed without a confirmation
  if (!ask) throw new OperatorError("wrong-usage", `${what} Not a terminal: confirm with --yes.`);
  const answer = await ask(`${what} Type yes to continue: `);
  if (answer.trim() !== "yes") throw new OperatorError("wrong-usage", "Nothing was changed.");
}
