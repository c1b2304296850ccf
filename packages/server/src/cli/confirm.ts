import { OperatorError } from "../base/errors/operator-error.ts";
import { escapeControls } from "../base/messages/escape-controls.ts";
import type { Context } from "./context.ts";

export interface Confirmation {
  /** What the command will do, as lines of sentences. */
  readonly what: string | readonly string[];
  /** Whether the command line has `--yes`. */
  readonly yes: boolean | undefined;
  /** The installation that it changes, if the sentence does not name it. */
  readonly where?: string;
}

/**
 * Asks the user to confirm what the command will do.
 * @throws wrong-usage if there is neither a terminal nor `--yes`, or if the answer is not "yes".
 */
export async function confirm({ ask }: Context, { what, yes, where }: Confirmation): Promise<void> {
  if (yes) return;
  const sentences = [what].flat().map(escapeControls).join("\n");
  // guard(drop): nothing is destroyed without a confirmation
  if (!ask) throw new OperatorError("wrong-usage", `${sentences} Not a terminal: confirm with --yes.`);
  const named = where === undefined ? sentences : `${sentences} This changes ${escapeControls(where)}.`;
  const answer = await ask(`${named} Type yes to continue: `);
  if (answer.trim() !== "yes") throw new OperatorError("wrong-usage", "Nothing was changed.");
}
