/** Options that say why a person opens events: an open case, or the reason, category and ticket of a new case. */
import { CATEGORIES, type Input } from "@device-risk-signals/admin-api";
import { type Command, Option } from "commander";
import { breakGlassOption, type BreakGlassOptions } from "./break-glass.ts";
import type { Context } from "./context.ts";
import { ticket, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";

export interface WhyOptions extends BreakGlassOptions {
  readonly case?: string;
  readonly reason?: string;
  readonly category?: (typeof CATEGORIES)[number];
  readonly ticket?: string;
}

/** Adds the options. @param when the option that they need, such as `with --raw: `. */
export const addWhy = (context: Context, command: Command, when = ""): Command =>
  command
    .addOption(
      new Option("--case <case-id>", `${when}your open case, which covers what is opened`)
        .argParser(uuid)
        .conflicts(["reason", "category", "ticket"]),
    )
    .option("--reason <text>", `${when}why; opens a case`, reasonReader(context))
    .addOption(new Option("--category <category>", `${when}kind of this case`).choices(CATEGORIES))
    .option("--ticket <ticket>", `${when}ticket of this case`, ticket)
    .addOption(breakGlassOption());

/** Ends the command if its options do not say why. */
export function whyOf(options: WhyOptions, self: Command): Omit<Input<"readExactEvent">, "event_id"> {
  const { case: case_id, reason, category = "debugging", ticket: named } = options;
  if (case_id !== undefined) return { case_id };
  if (reason === undefined) self.error("error: --reason or --case is needed: the audit has why an event was opened");
  return { category, reason, ...(named !== undefined && { ticket: named }) };
}
