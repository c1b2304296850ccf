import type { Event } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, printJson, writeExact } from "./context.ts";
import { example, uuid } from "./options.ts";
import { contextOf, INCLUDE_RESTRICTED, type RestrictedReads } from "./restricted-reads.ts";
import { printRows } from "./table.ts";
import { addWhy, whyOf, type WhyOptions } from "./why.ts";

interface GetOptions extends RestrictedReads, WhyOptions {
  readonly raw?: boolean;
  readonly json?: boolean;
}

/** The options about a case, which `drs event get` accepts only with `--raw`. */
const CASE_OPTIONS = ["case", "category", "ticket"] as const;

/** `drs event get`. */
export function getCommand(context: Context): Command {
  const command = new Command("get")
    .description("Show an event's promoted attributes, or with --raw its exact bytes. Audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .option("--raw", "write the exact bytes, and nothing else; at a terminal their text, escaped")
    .addHelpText(
      "after",
      example("drs event get 019a…-…", 'drs event get 019a…-… --raw --reason "dispute 4711" > event.json'),
    );
  return addWhy(context, command, "with --raw: ")
    .option(...INCLUDE_RESTRICTED)
    .option("--json", "print one JSON object")
    .action(async (event_id: string, options: GetOptions, self: Command) => {
      const ofCase = CASE_OPTIONS.find((one) => options[one] !== undefined);
      if (!options.raw && ofCase !== undefined) self.error(`error: --${ofCase} needs --raw`);
      const reading = contextOf(context, options, self);
      if (options.raw) {
        const input = { event_id, ...whyOf(options, self) };
        return writeExact(context, await call(requireBreakGlass(reading, options), "readExactEvent", input));
      }
      const attributes = attributesOf(await call(reading, "readEvent", { event_id }));
      if (options.json) return printJson(context, attributes);
      printRows(context, rowsOf(attributes), "");
    });
}

/** The promoted attributes of an event, in the order in which they are shown. */
export function attributesOf(event: Event): Event {
  const { event_id, idempotency_key, account, action_id, action_type, purpose, ...rest } = event;
  return { event_id, idempotency_key, account, action_id, action_type, purpose, ...rest };
}

export const rowsOf = (attributes: Event): readonly { readonly attribute: string; readonly value: unknown }[] =>
  Object.entries(attributes).map(([attribute, value]) => ({ attribute, value: value as unknown }));
