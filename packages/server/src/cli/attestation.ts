import { Command } from "commander";
import { OperatorError } from "../errors/operator-error.ts";
import { call } from "./call.ts";
import { type Context, printRows } from "./context.ts";
import { count, example, uuid } from "./options.ts";

/** Maximum number of rows of the routes. */
const MAX_ATTESTATIONS = 1_000;

interface Options {
  readonly partition?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `drs feature attestation`. */
export function attestationCommand(context: Context): Command {
  const command = new Command("attestation")
    .description("What was recomputed of stored values before their events expired.")
    .addHelpText("after", example("drs feature attestation verify"));

  command
    .command("list")
    .description("List attestations, newest partition first.")
    .option("--limit <n>", "maximum number of rows, up to 1000", count, 50)
    .option("--json", "print one JSON object per line, with the signed statement")
    .addHelpText("after", example("drs feature attestation list"))
    .action(async ({ limit, json = false }: Options) => {
      const { attestations } = await call(context, "listAttestations", { limit: limitOf(limit) });
      const rows = json ? attestations : attestations.map(({ statement: _statement, root: _root, ...shown }) => shown);
      printRows(context, rows, json, "No attestations.");
    });

  command
    .command("verify")
    .description("Check signature and root of attestations, and the rows that are left. Audited.")
    .option("--partition <id>", "only of this partition of events", uuid)
    .option("--limit <n>", "maximum number of attestations, up to 1000", count, 50)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs feature attestation verify --limit 1000"))
    .action(async ({ partition, limit, json = false }: Options) => {
      const input = { ...(partition !== undefined && { partition_id: partition }), limit: limitOf(limit) };
      const { attestations } = await call(context, "verifyAttestations", input);
      printRows(context, attestations, json, "No attestations.");
      if (attestations.some(({ holds }) => !holds)) {
        throw new OperatorError("features-differ", "An attestation or a row that it is about was changed.");
      }
    });
  return command;
}

const limitOf = (limit: number): number => (limit === 0 ? MAX_ATTESTATIONS : Math.min(limit, MAX_ATTESTATIONS));
