import type { Answer } from "@device-risk-signals/admin-api";
import { Command, InvalidArgumentError } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson, printText } from "./context.ts";
import { printRows } from "./table.ts";
import { erasureLine } from "./erasure-line.ts";
import { example, uuid } from "./options.ts";

/** An attestation lists only the rows whose recomputed values were equal. For any other row it gives no reason. */
const NOT_INCLUDED =
  "not among the rows that were equal (restricted, unreadable or different then, or it took too long)";

const FEATURE_NAME = /^[a-z][a-z0-9_]{0,63}(@[1-9]\d{0,8})?$/;

function feature(text: string): string {
  if (!FEATURE_NAME.test(text))
    throw new InvalidArgumentError("It must be an id, or an id and a version: root_traces@2.");
  return text;
}

interface Options {
  readonly program?: boolean;
  readonly json?: boolean;
}

/** `drs feature explain`. */
export function explainFeatureCommand(context: Context): Command {
  return new Command("explain")
    .description("Show where a value comes from: event, code, decisions. Audited.")
    .argument("<event>", "event id", uuid)
    .argument("<feature>", "id, or id@version", feature)
    .option("--program", "print the archived program, too")
    .option("--json", "print one JSON object, with the evidence of the decisions")
    .addHelpText("after", example("drs feature explain 019a2b7e-… root_traces@2"))
    .action(async (event_id: string, name: string, { program = false, json = false }: Options) => {
      const answer = await call(context, "explainFeature", { event_id, feature: name, program });
      if (json) printJson(context, answer);
      else printExplanation(context, answer);
    });
}

type Explained = Answer<"explainFeature">;

function printExplanation(context: Context, { event_id, event, values, erasures }: Explained): void {
  if (event === null) {
    print(context, `Event ${event_id}: erased. Nothing else is known of it.`);
    for (const erasure of erasures) print(context, erasureLine(erasure));
    return;
  }
  const { received_at, purpose, platform, sdk_version, is_stored } = event;
  const state = is_stored ? "stored" : "expired";
  print(context, `Event ${event_id}: received ${received_at} for ${purpose}, ${platform} ${sdk_version}, ${state}`);
  for (const value of values) printValue(context, value);
}

function printValue(context: Context, explained: Explained["values"][number]): void {
  const { feature: name, state, value, is_value_withheld, failure, inputs, layer, extracted_at, sha256 } = explained;
  const shown = is_value_withheld ? "withheld from your roles" : JSON.stringify(value);
  const result = state === "observed" ? `${state}, value ${shown}` : [state, failure].filter(Boolean).join(": ");
  const lines = [
    `${name}  ${explained.hash}`,
    `Result: ${result}`,
    `Layer ${layer}, extracted ${extracted_at}`,
    `SHA-256 of the event: ${sha256}`,
    `Meaning: ${explained.meaning}`,
    ...explained.false_readings.map((reading) => `False reading: ${reading}`),
    `Owner: ${explained.owner}`,
  ];
  for (const line of lines) print(context, line);
  printRows(context, inputs, "No inputs.");
  const { proposed, adopted, retired, attestation } = explained;
  if (attestation) {
    const { attested_at, is_included, partition_id } = attestation;
    const result = is_included ? "equal" : NOT_INCLUDED;
    print(context, `Recomputed ${attested_at}: ${result}; partition ${partition_id}`);
  }
  const decisions = [proposed, adopted, retired].filter((decision) => decision !== null);
  printRows(
    context,
    decisions.map(({ kind, decided_at, decided_by, reason }) => ({ kind, decided_at, decided_by, reason })),
    "No decisions.",
  );
  if (explained.program !== null) printText(context, explained.program);
}
