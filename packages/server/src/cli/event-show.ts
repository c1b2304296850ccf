import type { Answer } from "@device-risk-signals/admin-api";
import { Command, Option } from "commander";
import {
  describeFields,
  describeProbes,
  type ObservedField,
  type ProbeState,
} from "@device-risk-signals/contract/observations";
import { requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { attributesOf, rowsOf } from "./event-get.ts";
import { code, codeOfName, plain, tableOf } from "./markdown.ts";
import { example, uuid } from "./options.ts";
import { contextOf, INCLUDE_RESTRICTED, type RestrictedReads } from "./restricted-reads.ts";
import { printRows } from "./table.ts";
import { addWhy, whyOf, type WhyOptions } from "./why.ts";

interface ShowOptions extends RestrictedReads, WhyOptions {
  readonly markdown?: boolean;
  readonly json?: boolean;
}

/** `drs event show`. */
export function showCommand(context: Context): Command {
  const command = new Command("show")
    .description("Show the probes and the fields of an event, and what they mean. Audited.")
    .argument("<event-id>", "as the endpoint answered it", uuid)
    .addHelpText(
      "after",
      example(
        "drs event show 019a…-… --case 5f0c2b9e-…",
        'drs event show 019a…-… --reason "dispute 4711" --markdown > ticket.md',
      ),
    );
  return addWhy(context, command)
    .option(...INCLUDE_RESTRICTED)
    .addOption(new Option("--markdown", "print Markdown for a ticket").conflicts("json"))
    .option("--json", "print one JSON object")
    .action(async (event_id: string, options: ShowOptions, self: Command) => {
      const reading = contextOf(context, options, self);
      const input = { event_id, ...whyOf(options, self) };
      const shown = describe(await call(requireBreakGlass(reading, options), "readObservations", input));
      if (options.json) return printJson(context, shown);
      if (!options.markdown) return printShown(context, shown);
      for (const line of markdownOf(shown)) print(context, line);
    });
}

interface Shown extends Omit<Answer<"readObservations">, "observations"> {
  readonly probes: readonly ProbeState[];
  readonly fields: readonly ObservedField[];
}

function describe({ event, observations, withheld, audit_entry }: Answer<"readObservations">): Shown {
  const raw = observations as Readonly<Record<string, unknown>>;
  const fields = [...describeFields(raw, event.platform)];
  return { event: attributesOf(event), probes: describeProbes(raw), fields, withheld, audit_entry };
}

/** The meaning of a field, and first why its value is no observation. */
const meaningOf = ({ meaning, not_observed: why }: ObservedField): string | null =>
  why === null ? meaning : `No observation: ${why}. ${meaning ?? ""}`;

/** Texts of clients are printed as JSON, so that none looks like a state or like a word of the catalog. */
function printShown(context: Context, { event, probes, fields, withheld, audit_entry }: Shown): void {
  printRows(context, rowsOf(event), "");
  print(context, "");
  const states = probes.map(({ reason, ...row }) => ({
    ...row,
    reason: reason === null ? null : JSON.stringify(reason),
  }));
  printRows(context, states, "");
  print(context, "");
  const rows = fields.map((field) => {
    const { path, value, unit, sensitivity } = field;
    return { path, value: JSON.stringify(value), unit, sensitivity, meaning: meaningOf(field) };
  });
  printRows(context, rows, "No fields.");
  print(context, "");
  if (withheld.length > 0) print(context, `Not shown: ${withheld.join(", ")}.`);
  print(context, `Audit entry ${audit_entry}`);
}

function markdownOf({ event, probes, fields, withheld, audit_entry }: Shown): readonly string[] {
  const states = probes.map(({ probe, state, reason }) => {
    return { probe: codeOfName(probe), state, reason: reason === null ? "" : code(reason) };
  });
  const rows = fields.map((field) => {
    const { path, value, unit, sensitivity } = field;
    const facts = { unit: unit ?? "", sensitivity: sensitivity ?? "", meaning: plain(meaningOf(field) ?? "") };
    return { path: codeOfName(path), value: code(value), ...facts };
  });
  return [
    `## Event ${event.event_id}`,
    "",
    ...tableOf(rowsOf(event).map(({ attribute, value }) => ({ attribute, value: code(value) }))),
    "",
    ...tableOf(states),
    "",
    ...(rows.length === 0 ? ["No fields."] : tableOf(rows)),
    "",
    ...(withheld.length > 0 ? [`Not shown: ${withheld.map(codeOfName).join(", ")}.`, ""] : []),
    `Audit entry ${audit_entry}`,
  ];
}
