import { type Answer, FIELD_TYPES, SENSITIVITIES } from "@device-risk-signals/admin-api";
import { UNITS } from "@device-risk-signals/contract/catalog/declare";
import { Command, InvalidArgumentError, Option } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { printRows, printTable, type TableOptions, withTableOptions } from "./table.ts";
import { example, futureDate } from "./options.ts";
import { catalogDeclaration, writeOverlay } from "./overlay-file.ts";
import { reasonReader } from "./reason.ts";
import { routeCommand, routeList } from "./route-command.ts";

const DRIFT_PATH = /^[A-Za-z0-9_]{1,64}(\.[A-Za-z0-9_]{1,64}){0,2}$/;

function driftPath(text: string): string {
  if (!DRIFT_PATH.test(text)) throw new InvalidArgumentError("It must be a path as the list shows it, without *.");
  return text;
}

const ACCEPT_EXAMPLE = 'drs drift accept new_probe.found --type boolean --sensitivity low --reason "review 4711"';

export function driftCommand(context: Context): Command {
  const command = new Command("drift").addHelpText("after", example("drs drift list", ACCEPT_EXAMPLE));
  addReads(command, context);
  addFieldDecisions(command, context);
  addPathDecisions(command, context);
  return command;
}

function addReads(command: Command, context: Context): void {
  command.addCommand(
    routeList(context, {
      name: "list",
      route: "listDrift",
      rows: "drift",
      help: "List departures, most frequent first. Malformed names are counted under *.",
      options: { all: "also paths that are ignored" },
      empty: "No departures from the catalog.",
      columns: ["path", "json_type", "platform", "sdk_version", "occurrences", "last_seen"],
      examples: ["drs drift list"],
    }),
  );
  command.addCommand(
    routeCommand(context, {
      name: "show",
      route: "readDrift",
      help: "Show what was seen at a path, the decisions, and the features that read it.",
      argument: ["path", "names from the probe down, joined by dots"],
      examples: ["drs drift show new_probe.found"],
      show: ({ seen, decisions, overlay, read_by }) => {
        printRows(context, seen, "No stored event departed from the catalog here.");
        printRows(context, decisions, "No decisions.");
        printRows(context, overlay, "No accepted field.");
        const readers = read_by.map((one) => ({ ...one, computed_for: one.computed_for.join(" ") }));
        printRows(context, readers, "No feature reads it.");
      },
    }),
  );

  withTableOptions(command.command("overlay"))
    .description("List the accepted fields, or write the overlay file of a repository.")
    .option("--overlay <file>", "write this file, such as overlay.json")
    .addHelpText("after", example("drs drift overlay", "drs drift overlay --overlay my-features/overlay.json"))
    .action(async ({ overlay: file, ...options }: { readonly overlay?: string } & TableOptions) => {
      const { overlay } = await call(context, "readOverlay", {});
      if (file === undefined) return printTable(context, overlay, { empty: "No accepted fields." }, options);
      await writeOverlay(context, file, overlay);
    });
}

interface DecideOptions {
  readonly reason: string;
  readonly overlay?: string;
  readonly json?: boolean;
}

interface AcceptOptions extends DecideOptions {
  readonly type: (typeof FIELD_TYPES)[number];
  readonly unit?: (typeof UNITS)[number];
  readonly sensitivity: (typeof SENSITIVITIES)[number];
}

/** A subcommand with the options that all decisions have. */
function decision(command: Command, context: Context, name: string): Command {
  return command
    .command(name)
    .argument("<path>", "names from the probe down, joined by dots", driftPath)
    .requiredOption("--reason <text>", "why; recorded in the audit log", reasonReader(context))
    .option("--overlay <file>", "write the accepted fields into this file")
    .option("--json", "print one JSON object");
}

const sensitivityOption = (): Option =>
  new Option("--sensitivity <class>", "how much the value says about a person")
    .choices(SENSITIVITIES)
    .makeOptionMandatory();

function addFieldDecisions(command: Command, context: Context): void {
  decision(command, context, "accept")
    .description("Accept a field beyond the catalog: definitions of features may read it.")
    .addOption(new Option("--type <type>", "type of its values").choices(FIELD_TYPES).makeOptionMandatory())
    .addOption(new Option("--unit <unit>", "unit of a number").choices(UNITS))
    .addOption(sensitivityOption())
    .addHelpText("after", example(ACCEPT_EXAMPLE))
    .action(async (path: string, { type, unit, sensitivity, reason, ...output }: AcceptOptions, self: Command) => {
      if (type.startsWith("number") !== (unit !== undefined)) {
        return self.error(
          "error: a number needs --unit (`none` if it has no dimension), and other types must not have it",
        );
      }
      const input = { path, type, ...(unit !== undefined && { unit }), sensitivity, reason };
      const answer = await call(context, "acceptDrift", input);
      await printDecision(context, answer, output, [
        `Accepted: definitions may read ${path}. Its sensitivity is high until the role privacy classifies it.`,
        "For the catalog, in a release of the SDK:",
        ...catalogDeclaration(answer.decision, answer.platforms),
      ]);
    });

  decision(command, context, "classify")
    .description("Classify the sensitivity of an accepted field, as the role privacy.")
    .addOption(sensitivityOption())
    .addHelpText("after", example('drs drift classify new_probe.found --sensitivity low --reason "review 4712"'))
    .action(async (path: string, { sensitivity, reason, ...output }: AcceptOptions) => {
      const answer = await call(context, "classifyDrift", { path, sensitivity, reason });
      await printDecision(context, answer, output, [`Classified: the sensitivity of ${path} is ${sensitivity}.`]);
    });
}

function addPathDecisions(command: Command, context: Context): void {
  decision(command, context, "ignore")
    .description("Hide a path from the list until a date, or until a new type is seen there.")
    .option("--until <date>", "first day on which it is listed again", futureDate(context.clock))
    .addHelpText("after", example('drs drift ignore fonts.novel --until 2027-01-31 --reason "a beta of the SDK"'))
    .action(async (path: string, { until, reason, ...output }: DecideOptions & { until?: string }) => {
      const answer = await call(context, "ignoreDrift", { path, ...(until !== undefined && { until }), reason });
      const when = until === undefined ? "until a new type is seen there" : `until ${until} or a new type`;
      await printDecision(context, answer, output, [
        `Ignored: ${path} is not listed ${when}. Events are stored as before.`,
      ]);
    });

  decision(command, context, "reject")
    .description("Reject a path: no definition reads it, and it stays listed.")
    .addHelpText("after", example('drs drift reject fonts.novel --reason "no release of the SDK sends it"'))
    .action(async (path: string, { reason, ...output }: DecideOptions) => {
      const answer = await call(context, "rejectDrift", { path, reason });
      await printDecision(context, answer, output, [
        `Rejected: no definition may read ${path}, and it stays listed. Events are stored as before.`,
      ]);
    });
}

/** Writes the overlay file if the command names one, and prints the decision. */
async function printDecision(
  context: Context,
  answer: Answer<"rejectDrift">,
  { overlay: file, json = false }: Pick<DecideOptions, "overlay" | "json">,
  lines: readonly string[],
): Promise<void> {
  if (json) printJson(context, answer);
  else for (const line of lines) print(context, line);
  if (file !== undefined) await writeOverlay(context, file, answer.overlay, json);
}
