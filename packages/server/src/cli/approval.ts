import type { Command } from "commander";
import { type Context } from "./context.ts";
import { printRows } from "./table.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";
import type { IdList } from "./short-id.ts";

const IDS: IdList = { list: "listApprovals", rows: "approvals", id: "approval_id" };

export function approvalCommand(context: Context): Command {
  const argument = ["approval_id", "as `list` shows it"] as const;
  const decide = (route: "approve" | "deny", done: string): Command =>
    routeCommand(context, {
      name: route,
      route,
      help: `Record that the operation is ${done}. Only a person who signed in can decide, and not about their own request.`,
      argument,
      ids: IDS,
      options: { reason: "why, for the audit log" },
      examples: [`drs approval ${route} 5f0c2b9e-…`],
      lines: ({ approval_id, state }) => `Approval ${approval_id} is ${state}.`,
    });
  return groupOf(
    "approval",
    "drs approval list",
    routeList(context, {
      name: "list",
      route: "listApprovals",
      rows: "approvals",
      help: "List approvals, newest first.",
      empty: "No approvals.",
      shortened: "approval_id",
      columns: ["approval_id", "operation", "state", "requested_by", "expires_at", "reason"],
      examples: ["drs approval list"],
    }),
    routeCommand(context, {
      name: "show",
      route: "readApproval",
      help: "Show what was asked for, and what it would do.",
      argument,
      ids: IDS,
      examples: ["drs approval show 5f0c2b9e-…"],
      show: (approval) =>
        printRows(
          context,
          Object.entries(approval).map(([member, value]) => ({ member, value })),
          "",
        ),
    }),
    decide("approve", "approved"),
    decide("deny", "denied"),
    routeCommand(context, {
      name: "withdraw",
      route: "withdrawApproval",
      help: "Withdraw your own request.",
      argument,
      ids: IDS,
      examples: ["drs approval withdraw 5f0c2b9e-…"],
      lines: ({ approval_id }) => `Approval ${approval_id} is withdrawn.`,
    }),
  );
}
