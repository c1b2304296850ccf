import { readFile } from "node:fs/promises";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { resolve } from "node:path";
import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call, withCalls } from "./call.ts";
import { placeOf, showInstallation } from "./local.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson, printText } from "./context.ts";
import { example } from "./options.ts";
import { routeCommand, routeList } from "./route-command.ts";

interface ApplyOptions extends BreakGlassOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function purposeCommand(context: Context): Command {
  const command = new Command("purpose").addHelpText("after", example("drs purpose apply purposes.yaml --dry-run"));

  command
    .command("apply")
    .description("Apply a policy file: purposes, and the purpose of each action type.")
    .argument("<file>", "YAML with purposes, actions and unmapped")
    .option("--dry-run", "print what would change, and change nothing")
    .option("--yes", "do not ask when events expire at once")
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs purpose apply purposes.yaml --dry-run", "drs purpose apply purposes.yaml"))
    .action(async (file: string, options: ApplyOptions) => {
      const { dryRun = false, yes, json = false } = options;
      const policy = await readPolicyFile(context, file);
      const planned = await call(context, "applyPolicy", { policy, dry_run: true });
      const isExpiry = planned.changes.some((change) => "events" in change && change.expire_earlier > 0);
      const applying = isExpiry && !dryRun ? requireBreakGlass(context, options) : context;
      if (isExpiry && !dryRun) await withCalls(applying, "read", (invoke) => showInstallation(applying, invoke));
      if (!dryRun) await confirmExpiry(context, planned, yes);
      const applied = dryRun ? planned : await call(applying, "applyPolicy", { policy });
      if (json) printJson(context, applied);
      else printApplied(context, applied);
    });

  command.addCommand(
    routeList(context, {
      name: "list",
      route: "listPurposes",
      rows: "purposes",
      help: "List the purposes, and which action types belong to each.",
      empty: "No purposes.",
      columns: ["id", "title", "raw_retention", "derived_retention", "legal_basis", "action_types"],
      examples: ["drs purpose list"],
    }),
  );
  command.addCommand(
    routeCommand(context, {
      name: "record",
      route: "readProcessingRecord",
      help: "Print the record of processing (GDPR, article 30) of the active policy, in Markdown.",
      json: ({ policy }) => policy as object,
      examples: ["drs purpose record > record-of-processing.md"],
      show: ({ record }) => printText(context, record.trimEnd()),
    }),
  );
  return command;
}

function readPolicyFile({ directory }: Context, file: string): Promise<string> {
  const path = resolve(directory, file);
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError("input-invalid", `${path} can't be read (${error.code})`);
  });
}

type Applied = Answer<"applyPolicy">;

async function confirmExpiry(context: Context, { changes }: Applied, yes: boolean | undefined): Promise<void> {
  const events = changes.reduce((sum, change) => sum + ("events" in change ? change.expire_at_once : 0), 0);
  if (events > 0)
    await confirm(context, {
      what: `The new policy makes ${plural(events, "event")} expire at once.`,
      yes,
      where: placeOf(context),
    });
}

function printApplied(context: Context, { version, changes, dry_run }: Applied): void {
  for (const change of changes) print(context, described(change));
  if (dry_run) print(context, `Nothing was changed; policy ${version} is active.`);
  else print(context, `${changes.length === 0 ? "Nothing changes: policy" : "Policy"} ${version} is active.`);
}

function described(change: Applied["changes"][number]): string {
  if ("unmapped" in change) return `unmapped action types: ${change.from} -> ${change.unmapped}`;
  if ("action_type" in change) return `action ${change.action_type}: ${change.from ?? "-"} -> ${change.to ?? "-"}`;
  const members = change.members.length > 0 ? ` (${change.members.join(", ")})` : "";
  const earlier = change.expire_earlier > 0 ? `, ${change.expire_earlier} expire earlier` : "";
  const at_once = change.expire_at_once > 0 ? `, ${change.expire_at_once} at once` : "";
  const count = `it has ${plural(change.events, "event")}${earlier}${at_once}`;
  return `purpose ${change.purpose}: ${change.change}${members}; ${count}`;
}
