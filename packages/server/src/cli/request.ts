import type { Answer } from "@device-risk-signals/admin-api";
import { Command, Option } from "commander";
import {
  REQUEST_KINDS,
  REQUEST_OUTCOMES,
  type RequestKind,
  type RequestOutcome,
} from "../lifecycle/requests/data-requests.ts";
import { call, withCalls } from "./call.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { account, example, pastDate, uuid, trimmedText } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface AddOptions {
  readonly account: string;
  readonly kind: RequestKind;
  readonly received?: string;
  readonly identity?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface CloseOptions {
  readonly outcome: RequestOutcome;
  readonly reason?: string;
  readonly identity?: string;
  readonly erasure?: string;
  readonly export?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface ExtendOptions {
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function requestCommand(context: Context): Command {
  return new Command("request")
    .description("Requests by data subjects: what was asked, when it is due, and the outcome.")
    .addHelpText("after", example("drs request list"))
    .addCommand(addCommand(context))
    .addCommand(listCommand(context))
    .addCommand(extendCommand(context))
    .addCommand(closeCommand(context));
}

function addCommand(context: Context): Command {
  return new Command("add")
    .description("Record a request; it is due one month after it was received.")
    .requiredOption("--account <account>", "who asks", account)
    .addOption(new Option("--kind <kind>", "what for").choices([...REQUEST_KINDS]).makeOptionMandatory())
    .option("--received <date>", "when it was received; default: today", pastDate(context.clock))
    .option("--identity <text>", "how the identity was verified", trimmedText("a text", 1_000))
    .option("--dry-run", "only check the input, and record nothing")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs request add --account customer-1 --kind erasure --identity "signed in, code by mail"'),
    )
    .action(async (options: AddOptions) => {
      const { account: of, kind, received, identity, dryRun = false } = options;
      const added = await withCalls(context, "change", (call) =>
        call("addRequest", {
          account: of,
          kind,
          ...(received !== undefined && { received_at: received }),
          ...(identity !== undefined && { identity }),
          dry_run: dryRun,
        }),
      );
      if (!added.is_known) context.stderr.write("Nothing is stored about this account: check the spelling.\n");
      printRequest(context, added.request, options);
    });
}

function listCommand(context: Context): Command {
  return new Command("list")
    .description("List requests, open ones first, by due date. Audited.")
    .option("--account <account>", "only requests of this account, also closed ones", account)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs request list --json"))
    .action(async ({ account: of, json = false }: { account?: string; json?: boolean }) => {
      const { requests } = await call(context, "listRequests", of === undefined ? {} : { account: of });
      printRows(context, requests, json, "No requests.");
    });
}

function extendCommand(context: Context): Command {
  return new Command("extend")
    .description("Extend a request by two further months, once.")
    .argument("<request-id>", "as `list` shows it", uuid)
    .requiredOption("--reason <text>", "why it takes longer", reasonReader(context))
    .option("--dry-run", "only check the input, and change nothing")
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs request extend 5f0c2b9e-… --reason "many requests at once"'))
    .action(async (id: string, options: ExtendOptions) => {
      const { reason, dryRun = false } = options;
      const { request } = await withCalls(context, "change", (call) =>
        call("extendRequest", { request_id: id, reason, dry_run: dryRun }),
      );
      printRequest(context, request, options);
    });
}

function closeCommand(context: Context): Command {
  return new Command("close")
    .description("Close a request: done, partly done or refused. The account's name is deleted from it.")
    .argument("<request-id>", "as `list` shows it", uuid)
    .addOption(new Option("--outcome <outcome>", "the outcome").choices([...REQUEST_OUTCOMES]).makeOptionMandatory())
    .option("--reason <text>", "why; required with refused", reasonReader(context))
    .option(
      "--identity <text>",
      "how the identity was verified; required with done and partly",
      trimmedText("a text", 1_000),
    )
    .option("--erasure <erasure-id>", "erasure that it led to; required with partly, else found", uuid)
    .option("--export <export-id>", "export that it led to; by default it is found", uuid)
    .option("--dry-run", "only check the input, and change nothing")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs request close 5f0c2b9e-… --outcome done"))
    .action(async (id: string, options: CloseOptions, self: Command) => {
      const { outcome, reason, identity, erasure, export: exportId, dryRun = false } = options;
      if (outcome === "refused" && reason === undefined) self.error("error: --outcome refused needs --reason");
      if (outcome === "partly" && erasure === undefined) self.error("error: --outcome partly needs --erasure");
      const { request } = await withCalls(context, "change", (call) =>
        call("closeRequest", {
          request_id: id,
          outcome,
          ...(reason !== undefined && { reason }),
          ...(identity !== undefined && { identity }),
          ...(erasure !== undefined && { erasure_id: erasure }),
          ...(exportId !== undefined && { export_id: exportId }),
          dry_run: dryRun,
        }),
      );
      printRequest(context, request, options);
    });
}

function printRequest(
  context: Context,
  row: Answer<"closeRequest">["request"],
  { dryRun = false, json }: { readonly dryRun?: boolean; readonly json?: boolean },
): void {
  if (json) return printJson(context, { ...row, dry_run: dryRun });
  const by = [row.erasure_id && `erasure ${row.erasure_id}`, row.export_id && `export ${row.export_id}`];
  const answer = by.map((one) => (one ? `, ${one}` : "")).join("");
  const state = row.closed_at === null ? `is due on ${row.due_at}` : `is closed: ${row.outcome}${answer}`;
  print(context, dryRun ? "Nothing was changed." : `Request ${row.request_id} ${state}.`);
}
