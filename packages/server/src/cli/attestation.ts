import { Command } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { type Call, withCalls } from "./call.ts";
import type { Context } from "./context.ts";
import { count, example, uuid } from "./options.ts";
import { type Page, printList, printPages } from "./pages.ts";

interface Options {
  readonly partition?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `drs feature attestation`. */
export function attestationCommand(context: Context): Command {
  const command = new Command("attestation")
    .description("Signed records of values that were recomputed before their events expired.")
    .addHelpText("after", example("drs feature attestation verify"));

  command
    .command("list")
    .description("List attestations, newest partition first.")
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 50)
    .option("--json", "print one JSON object per line, with the signed statement")
    .addHelpText("after", example("drs feature attestation list"))
    .action((options: Options) => {
      const read = async (call: Call, page: Page) => {
        const { attestations, next } = await call("listAttestations", page);
        const shown = attestations.map(({ statement: _statement, root: _root, ...rest }) => rest);
        return { rows: options.json ? attestations : shown, next };
      };
      return printList(context, read, options, "No attestations.");
    });

  command
    .command("verify")
    .description("Check signature and root of attestations, and the rows that are left. Audited.")
    .option("--partition <id>", "only attestations of this partition of events", uuid)
    .option("--limit <n>", "maximum number of attestations; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs feature attestation verify"))
    .action(async ({ partition, ...options }: Options) => {
      let isChanged = false;
      const read = (call: Call) => async (page: Page) => {
        const input = { ...(partition !== undefined && { partition_id: partition }), ...page };
        const { attestations, next } = await call("verifyAttestations", input);
        isChanged ||= attestations.some(({ holds }) => !holds);
        return { rows: attestations, next };
      };
      await withCalls(context, "audited-read", (call) => printPages(context, read(call), options, "No attestations."));
      if (isChanged) {
        throw new OperatorError("features-differ", "An attestation, or a row that it covers, was changed.");
      }
    });
  return command;
}
