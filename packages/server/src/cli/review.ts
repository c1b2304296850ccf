/** `drs review`: reviews of audit entries. */
import { Command } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { example, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface ReasonOptions {
  readonly reason: string;
  readonly json?: boolean;
}

export function reviewCommand(context: Context): Command {
  return new Command("review")
    .description("Reviews of audit entries: while one is open, its evidence remains readable.")
    .addHelpText("after", example("drs review list"))
    .addCommand(listCommand(context))
    .addCommand(openCommand(context))
    .addCommand(closeCommand(context));
}

function listCommand(context: Context): Command {
  return new Command("list")
    .description("List open reviews, oldest first.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs review list"))
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const { reviews } = await call(context, "listReviews", {});
      printRows(context, reviews, json, "No open reviews.");
    });
}

function openCommand(context: Context): Command {
  return new Command("open")
    .description("Open a review of an audit entry.")
    .argument("<entry-id>", "as `drs audit list --json` shows it", uuid)
    .requiredOption("--reason <text>", "why", reasonReader(context))
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs review open 019a…-… --reason "no case behind this read"'))
    .action(async (entryId: string, { reason, json = false }: ReasonOptions) => {
      const { review_id } = await call(context, "openReview", { entry_id: entryId, reason });
      if (json) printJson(context, { review_id });
      else print(context, `Review ${review_id} is open.`);
    });
}

function closeCommand(context: Context): Command {
  return new Command("close")
    .description("Close a review of what another person did, with its result.")
    .argument("<review-id>", "as `list` shows it", uuid)
    .requiredOption("--reason <text>", "the result", reasonReader(context))
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs review close 5f0c2b9e-… --reason "the read was justified"'))
    .action(async (review_id: string, { reason, json = false }: ReasonOptions) => {
      await call(context, "closeReview", { review_id, reason });
      if (json) printJson(context, { review_id });
      else print(context, `Review ${review_id} is closed.`);
    });
}
