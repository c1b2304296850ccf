/** `drs export`: feature values for training, exact bytes for investigations, and recalls of their rows. */
import { Command, InvalidArgumentError, Option } from "commander";
import {
  EXPORT_ATTRIBUTES,
  EXPORT_CLOCKS,
  type ExportAttribute,
  FEATURE_FORMATS,
  MAX_EVENT_IDS,
} from "@device-risk-signals/admin-api";
import { LIMITS } from "@device-risk-signals/contract";
import { breakGlassOption, requireBreakGlass } from "./break-glass.ts";
import type { Context } from "./context.ts";
import type {
  AcknowledgeOptions,
  PlanOptions,
  RawOptions,
  RepeatOptions,
  RunOptions,
  ShownOptions,
} from "./export-work.ts";
import { featureName } from "./feature-name.ts";
import { account, example, futureDate, name, time, TIMES, uuid, wordOf, trimmedText, ttl } from "./options.ts";
import { reasonReader } from "./reason.ts";
import { routeList } from "./route-command.ts";

/** Imported when a command runs, so that other commands start sooner. */
const loadWork = () => import("./export-work.ts");

function eventIds(text: string): readonly string[] {
  const ids = text.split(",").map((one) => uuid(one.trim()));
  if (ids.length > MAX_EVENT_IDS) throw new InvalidArgumentError(`It names more than ${MAX_EVENT_IDS} events.`);
  return ids;
}

function featureNames(text: string): readonly string[] {
  const names = text.split(",").map((one) => featureName(one.trim()));
  if (new Set(names).size < names.length) throw new InvalidArgumentError("It names a version twice.");
  return names;
}

const readAttribute = wordOf(EXPORT_ATTRIBUTES);

function attributesOf(text: string): readonly ExportAttribute[] {
  const names = text.split(",").map((one) => readAttribute(one.trim()));
  if (new Set(names).size < names.length) throw new InvalidArgumentError("It names an attribute twice.");
  return names;
}

/** Adds the options that say what an export of features takes from which labels. */
const withContent = ({ clock }: Context, command: Command): Command =>
  command
    .requiredOption("--labels <file>", "CSV or JSON lines: account, action_id or event_id; label_time, label")
    .requiredOption("--features <list>", "versions, such as root_traces@2,vpn_active@1", featureNames)
    .requiredOption("--purpose <id>", "purpose of the events that they were computed from", name("a purpose", 64))
    .requiredOption("--clock <clock>", "received or known: see the docs", wordOf(EXPORT_CLOCKS))
    .option("--with <list>", `attributes of the events: ${EXPORT_ATTRIBUTES.join(",")}`, attributesOf)
    .addOption(
      new Option("--all-events [duration]", "a row for each event before the label, such as of 30d")
        .argParser(ttl)
        .preset("3650d"),
    )
    .requiredOption("--expires <date>", "when the recipient deletes it: 2027-01-31", futureDate(clock));

export function exportCommand(context: Context): Command {
  const reason = reasonReader(context);
  const command = new Command("export").addHelpText(
    "after",
    example("drs export list", "drs export verify training.parquet"),
  );
  withContent(context, command.command("plan"))
    .description("Count the rows and states that an export of features would have. Audited.")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example(
        "drs export plan --labels labels.csv --features root_traces@2 --purpose payments --clock known \\\n" +
          "      --expires 2027-01-31",
      ),
    )
    .action(async (options: PlanOptions) => (await loadWork()).plan(context, options));
  withContent(context, command.command("run"))
    .description("Write the features as of the time of each label, in their order. Audited.")
    .option("--format <format>", FEATURE_FORMATS.join(", "), wordOf(FEATURE_FORMATS), "parquet")
    .option("--states", "the state of each input, too")
    .requiredOption("--recipient <name>", "who gets the file", trimmedText("a recipient", 256))
    .requiredOption("--reason <text>", "why; recorded in the audit log", reason)
    .requiredOption("--out <file>", "a new file")
    .option("--json", "print the manifest as one JSON object")
    .addHelpText(
      "after",
      example(
        "drs export run --labels labels.csv --features root_traces@2 --purpose payments --clock known \\\n" +
          '      --recipient "fraud team" --reason "training of model 7" --expires 2027-01-31 --out training.parquet',
      ),
    )
    .action(async (options: RunOptions) => (await loadWork()).run(context, options));
  command
    .command("raw")
    .description("Write the exact bytes of many events into a file, with a case. Audited, event by event.")
    .requiredOption("--case <case-id>", "an open case of yours: drs case open", uuid)
    .option("--account <account>", "only events of this account", account)
    .option("--action <action-id>", "only events of this action", name("an action id", LIMITS.actionId))
    .option("--type <action-type>", "only events of this action type", name("an action type", LIMITS.actionType))
    .option("--event <list>", "these events alone, by their ids", eventIds)
    .option("--from <time>", `received at this time or later: ${TIMES}`, time(context.clock))
    .option("--to <time>", "received before this time", time(context.clock))
    .requiredOption("--recipient <name>", "who gets the file", trimmedText("a recipient", 256))
    .requiredOption("--expires <date>", "when the recipient deletes it: 2027-01-31", futureDate(context.clock))
    .requiredOption("--out <file>", "a new file")
    .addOption(breakGlassOption())
    .option("--json", "print the manifest as one JSON object")
    .addHelpText(
      "after",
      example(
        "drs export raw --case ID --account customer-1 --from 2027-01-01 --recipient police --expires 2027-03-31 \\\n" +
          "      --out events.ndjson",
      ),
    )
    .action(async (options: RawOptions) => (await loadWork()).raw(requireBreakGlass(context, options), options));
  command.addCommand(
    routeList(context, {
      name: "list",
      route: "listExports",
      rows: "exports",
      limit: 100,
      empty: "No exports.",
      columns: ["export_id", "kind", "recipient", "rows", "expires_on", "state"],
      examples: ["drs export list"],
    }),
  );
  command
    .command("verify")
    .description("Compare a file with the record of its export.")
    .argument("<file>", "a file of `drs export run`, next to its manifest")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs export verify training.parquet"))
    .action(async (file: string, options: ShownOptions) => (await loadWork()).verify(context, file, options));
  command
    .command("repeat")
    .description("Write an export again: the same bytes, without what was erased since. Audited.")
    .argument("<export-id>", "as `drs export list` prints it", uuid)
    .requiredOption("--labels <file>", "the labels of the export")
    .requiredOption("--reason <text>", "why; recorded in the audit log", reason)
    .requiredOption("--out <file>", "a new file")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs export repeat ID --labels labels.csv --reason "audit of model 7" --out again.parquet'),
    )
    .action(async (id: string, options: RepeatOptions) => (await loadWork()).repeat(context, id, options));
  command
    .command("recall")
    .description("Print signed recalls: rows that the recipient of an export must delete.")
    .argument("<export-id>", "as `drs export list` prints it", uuid)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs export recall ID"))
    .action(async (id: string, options: ShownOptions) => (await loadWork()).recall(context, id, options));
  command
    .command("acknowledge")
    .description("Record that the recipient has deleted the recalled rows of an export. Audited.")
    .argument("<export-id>", "as `drs export list` prints it", uuid)
    .requiredOption("--reason <text>", "how it is known; recorded in the audit log", reason)
    .addHelpText("after", example('drs export acknowledge ID --reason "mail of 3 March"'))
    .action(async (id: string, options: AcknowledgeOptions) => (await loadWork()).acknowledge(context, id, options));
  return command;
}
