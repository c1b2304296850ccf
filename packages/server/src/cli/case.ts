import { CATEGORIES, type Input } from "@device-risk-signals/admin-api";
import { LIMITS } from "@device-risk-signals/contract";
import { Command, Option } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { account, count, example, name, ticket, uuid } from "./options.ts";
import { type PageOptions, printList } from "./pages.ts";
import { reasonReader } from "./reason.ts";

interface OpenCaseOptions {
  readonly category: (typeof CATEGORIES)[number];
  readonly reason: string;
  readonly ticket?: string;
  readonly account?: string;
  readonly action?: string;
  readonly event?: string;
  readonly json?: boolean;
}

export function caseCommand(context: Context): Command {
  const command = new Command("case")
    .description("Cases: why a person opens events.")
    .addHelpText("after", example('drs case open --account customer-1 --category dispute --reason "dispute 4711"'));

  command
    .command("open")
    .description("Open a case for an account, an action or an event, for 8 hours.")
    .addOption(new Option("--category <category>", "kind of the case").choices(CATEGORIES).makeOptionMandatory())
    .requiredOption("--reason <text>", "why events are opened", reasonReader(context))
    .option("--ticket <ticket>", "ticket of the case in another system", ticket)
    .option("--account <account>", "covers the events of this account", account)
    .option("--action <id>", "with --account: covers the events of this action", name("an action id", LIMITS.actionId))
    .option("--event <event-id>", "covers this event", uuid)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs case open --account customer-1 --category dispute --reason "dispute 4711" --ticket T-1 --json'),
    )
    .action(async (options: OpenCaseOptions, self: Command) => {
      const covered = coveredBy(options);
      if (!covered) return self.error("error: give --account, --account with --action, or --event");
      const { category, reason, ticket: of } = options;
      const opened = await call(context, "openCase", {
        category,
        reason,
        ...(of !== undefined && { ticket: of }),
        ...covered,
      });
      if (options.json) return printJson(context, opened);
      print(context, opened.case_id);
      print(context, `For the ${opened.scope} ${opened.subject}, until ${opened.expires_at}.`);
    });

  command
    .command("list")
    .description("List cases, newest first.")
    .option("--open", "only open cases")
    .option("--limit <n>", "maximum number of rows; 0 = no limit", count, 0)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs case list --open"))
    .action(({ open, ...page }: PageOptions & { open?: boolean }) =>
      printList(
        context,
        async (call, position) => {
          const { cases: rows, next } = await call("listCases", { ...position, ...(open && { open }) });
          return { rows, next };
        },
        page,
        "No cases.",
      ),
    );

  command
    .command("close")
    .description("Close a case: no more events can be opened with it.")
    .argument("<case-id>", "the case_id that `list` shows", uuid)
    .addHelpText("after", example("drs case close 5f0c2b9e-3f0e-4b57-9d0c-0f6a2f6f7c11"))
    .action(async (caseId: string) => {
      await call(context, "closeCase", { case_id: caseId });
      print(context, `Closed ${caseId}.`);
    });

  return command;
}

type Covered = Pick<Input<"openCase">, "account" | "action_id" | "event_id">;

/** @returns `undefined` if the options name no subject, or more than one. */
function coveredBy({ account: of, action, event }: OpenCaseOptions): Covered | undefined {
  if (event !== undefined) return of === undefined && action === undefined ? { event_id: event } : undefined;
  return of === undefined ? undefined : { account: of, ...(action !== undefined && { action_id: action }) };
}
