import type { Answer } from "@device-risk-signals/admin-api";
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { pastDate } from "./options.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

type DataRequest = Answer<"closeRequest">["request"];

const IDS: IdList = { list: "listRequests", rows: "requests", id: "request_id" };

export function requestCommand(context: Context): Command {
  const argument = ["request_id", "as `list` shows it"] as const;
  const json = ({ request }: { readonly request: DataRequest }): DataRequest => request;
  return groupOf(
    "request",
    "drs request list",
    routeCommand(context, {
      name: "add",
      route: "addRequest",
      options: {
        account: "who asks",
        kind: "what for",
        received_at: {
          flags: "--received <date>",
          help: "when it was received; default: today",
          read: pastDate(context.clock),
        },
        identity: { flags: "--identity <text>" },
        dry_run: "only check the input, and record nothing",
      },
      json,
      examples: ['drs request add --account customer-1 --kind erasure --identity "signed in, code by mail"'],
      note: ({ is_known }) => (is_known ? undefined : "Nothing is stored about this account: check the spelling."),
      lines: stateOf,
    }),
    routeList(context, {
      name: "list",
      route: "listRequests",
      rows: "requests",
      help: "List requests, open ones first, by due date. Audited.",
      options: { account: "only requests of this account, also closed ones" },
      empty: "No requests.",
      columns: ["request_id", "account", "kind", "due_at", "overdue", "outcome"],
      examples: ["drs request list --json"],
    }),
    routeCommand(context, {
      name: "extend",
      route: "extendRequest",
      argument,
      ids: IDS,
      options: { reason: "why it takes longer", dry_run: "only check the input, and change nothing" },
      json,
      examples: ['drs request extend 5f0c2b9e-… --reason "many requests at once"'],
      lines: stateOf,
    }),
    routeCommand(context, {
      name: "close",
      route: "closeRequest",
      help: "Close a request: done, partly done or refused. The account's name is deleted from it.",
      argument,
      ids: IDS,
      options: {
        outcome: "the outcome",
        reason: "why; required with refused",
        identity: {
          flags: "--identity <text>",
          help: "how the identity was verified; required with done and partly",
        },
        erasure_id: {
          flags: "--erasure <erasure-id>",
          help: "erasure that it led to; required with partly, else found",
        },
        export_id: { flags: "--export <export-id>", help: "export that it led to; by default it is found" },
        dry_run: "only check the input, and change nothing",
      },
      problem: ({ outcome, reason, erasure_id }) => {
        if (outcome === "refused" && reason === undefined) return "--outcome refused needs --reason";
        return outcome === "partly" && erasure_id === undefined ? "--outcome partly needs --erasure" : undefined;
      },
      json,
      examples: ["drs request close 5f0c2b9e-… --outcome done"],
      lines: stateOf,
    }),
  );
}

function stateOf({ request }: { readonly request: DataRequest }, { dry_run }: { readonly dry_run: boolean }): string {
  const { request_id, closed_at, due_at, outcome, erasure_id, export_id } = request;
  const by = [erasure_id && `, erasure ${erasure_id}`, export_id && `, export ${export_id}`].filter(Boolean).join("");
  const state = closed_at === null ? `is due on ${due_at}` : `is closed: ${outcome}${by}`;
  return dry_run ? "Nothing was changed." : `Request ${request_id} ${state}.`;
}
