import { Command } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { type Call, withCalls } from "./call.ts";
import type { Context } from "./context.ts";
import { count, example, uuid } from "./options.ts";
import { showInstallation } from "./local.ts";
import { type Page, type PageOptions, printPages } from "./pages.ts";
import { routeList } from "./route-command.ts";
import { withTableOptions } from "./table.ts";

interface Options extends PageOptions {
  readonly partition?: string;
}

/** `drs feature attestation`. */
export function attestationCommand(context: Context): Command {
  const command = new Command("attestation")
    .description("Signed records of values that were recomputed before their events expired.")
    .addHelpText("after", example("drs feature attestation verify"));

  command.addCommand(
    routeList(context, {
      name: "list",
      route: "listAttestations",
      rows: "attestations",
      help: "List attestations, newest partition first.",
      limit: 50,
      empty: "No attestations.",
      columns: ["partition_id", "purpose", "layer", "rows", "equal", "attested_at"],
      examples: ["drs feature attestation list"],
    }),
  );

  withTableOptions(command.command("verify"))
    .description("Check signature and root of attestations, and the rows that are left. Audited.")
    .option("--partition <id>", "only attestations of this partition of events", uuid)
    .option("--limit <n>", "maximum number of attestations; 0 = no limit", count, 0)
    .addHelpText("after", example("drs feature attestation verify"))
    .action(async ({ partition, ...options }: Options) => {
      let isChanged = false;
      const read = (call: Call) => async (page: Page) => {
        const input = { ...(partition !== undefined && { partition_id: partition }), ...page };
        const { attestations, next } = await call("verifyAttestations", input);
        isChanged ||= attestations.some(({ holds }) => !holds);
        return { rows: attestations, next };
      };
      await withCalls(context, "audited-read", async (call) => {
        await showInstallation(context, call);
        await printPages(context, read(call), options, { empty: "No attestations." });
      });
      if (isChanged) {
        throw new OperatorError("features-differ", "An attestation, or a row that it covers, was changed.");
      }
    });
  return command;
}
