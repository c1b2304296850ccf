import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { count, example, uuid } from "./options.ts";
import { type PageOptions, printList } from "./pages.ts";

interface JsonOption {
  readonly json?: boolean;
}

type Approval = Answer<"readApproval">;

const columnsOf = ({ needed_roles, any_role, ...approval }: Approval) => {
  const { approval_id, operation, state, requested_by, expires_at, reason } = approval;
  const needed = needed_roles.join(any_role ? " or " : ",");
  return { approval_id, operation, state, needed_roles: needed, requested_by, expires_at, reason };
};

export function approvalCommand(context: Context): Command {
  const command = new Command("approval")
    .description("Approvals: a second person allows an operation, once.")
    .addHelpText("after", example("drs approval list"));
  command
    .command("list")
    .description("List approvals, newest first.")
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs approval list"))
    .action((page: PageOptions) =>
      printList(
        context,
        async (call, position) => {
          const { approvals, next } = await call("listApprovals", position);
          return { rows: page.json ? approvals : approvals.map(columnsOf), next };
        },
        page,
        "No approvals.",
      ),
    );
  command
    .command("show")
    .description("Show what was asked for, and what it would do.")
    .argument("<approval-id>", "as `list` shows it", uuid)
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs approval show 5f0c2b9e-…"))
    .action(async (approvalId: string, { json = false }: JsonOption) => {
      const approval = await call(context, "readApproval", { approval_id: approvalId });
      if (json) return printJson(context, approval);
      const rows = Object.entries(approval).map(([member, value]) => ({ member, value }));
      printRows(context, rows, false, "");
    });
  for (const [verb, done] of [
    ["approve", "approved"],
    ["deny", "denied"],
  ] as const) {
    command
      .command(verb)
      .description(
        `Record that the operation is ${done}. Only a person who signed in can decide, and not about their own request.`,
      )
      .argument("<approval-id>", "as `list` shows it", uuid)
      .option("--json", "print one JSON object")
      .addHelpText("after", example(`drs approval ${verb} 5f0c2b9e-…`))
      .action(async (approvalId: string, { json = false }: JsonOption) => {
        const approval = await call(context, verb, { approval_id: approvalId });
        if (json) printJson(context, approval);
        else print(context, `Approval ${approvalId} is ${approval.state}.`);
      });
  }
  command
    .command("withdraw")
    .description("Withdraw your own request.")
    .argument("<approval-id>", "as `list` shows it", uuid)
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs approval withdraw 5f0c2b9e-…"))
    .action(async (approvalId: string, { json = false }: JsonOption) => {
      const approval = await call(context, "withdrawApproval", { approval_id: approvalId });
      if (json) printJson(context, approval);
      else print(context, `Approval ${approvalId} is withdrawn.`);
    });
  return command;
}
