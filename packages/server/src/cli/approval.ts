import type { Answer } from "@device-risk-signals/admin-api";
import type { Command } from "commander";
import { type Context, printRows } from "./context.ts";
import { groupOf, routeCommand, routeList } from "./route-command.ts";

const columnsOf = ({ needed_roles, any_role, ...approval }: Answer<"readApproval">) => {
  const { approval_id, operation, state, requested_by, expires_at, reason } = approval;
  const needed = needed_roles.join(any_role ? " or " : ",");
  return { approval_id, operation, state, needed_roles: needed, requested_by, expires_at, reason };
};

export function approvalCommand(context: Context): Command {
  const argument = ["approval_id", "as `list` shows it"] as const;
  const decide = (route: "approve" | "deny", done: string): Command =>
    routeCommand(context, {
      name: route,
      route,
      help: `Record that the operation is ${done}. Only a person who signed in can decide, and not about their own request.`,
      argument,
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
      columns: columnsOf,
      empty: "No approvals.",
      examples: ["drs approval list"],
    }),
    routeCommand(context, {
      name: "show",
      route: "readApproval",
      help: "Show what was asked for, and what it would do.",
      argument,
      examples: ["drs approval show 5f0c2b9e-…"],
      show: (approval) =>
        printRows(
          context,
          Object.entries(approval).map(([member, value]) => ({ member, value })),
          false,
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
      examples: ["drs approval withdraw 5f0c2b9e-…"],
      lines: ({ approval_id }) => `Approval ${approval_id} is withdrawn.`,
    }),
  );
}
