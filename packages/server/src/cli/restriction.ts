import { Command, Option } from "commander";
import { inOrder } from "../admin/operations/orders.ts";
import { portsOn } from "../admin/operations/ports.ts";
import { openKeys } from "../app/open-keys.ts";
import { RESTRICTION_ARTICLES, type RestrictionArticle } from "../journal/journal.ts";
import {
  type LiftedRestriction,
  listRestrictions,
  type PlacedRestriction,
} from "../lifecycle/restrictions/restrictions.ts";
import { plural } from "../messages/plural.ts";
import { readPurposeIds } from "../policy/policy-table.ts";
import type { OwnerTransaction } from "../postgres/executor.ts";
import {
  type AuditedRestrictionPorts,
  liftAccountRestriction,
  restrictAccount,
} from "../subject-requests/restrict-account.ts";
import { confirm } from "./confirm.ts";
import { agentOf, type Context, print, printJson, printRows, withConnection } from "./context.ts";
import { account, example, pastDay, uuid, written } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface AddOptions {
  readonly account: string;
  readonly purpose?: string;
  readonly article: string;
  readonly reason: string;
  readonly approver?: string;
  readonly request?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface LiftOptions {
  readonly informedOn: string;
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function restrictionCommand(context: Context): Command {
  return new Command("restriction")
    .description("Restrictions and objections (GDPR, articles 18 and 21): kept, and not analysed.")
    .addHelpText("after", example("drs restriction list"))
    .addCommand(addCommand(context))
    .addCommand(listCommand(context))
    .addCommand(liftCommand(context));
}

function addCommand(context: Context): Command {
  return new Command("add")
    .description("Hide the events of an account from analysis, stored ones and later ones.")
    .requiredOption("--account <account>", "of whom", account)
    .addOption(
      new Option("--article <number>", "of the GDPR: 18 restriction, 21 objection")
        .choices(RESTRICTION_ARTICLES.map(String))
        .makeOptionMandatory(),
    )
    .option("--purpose <id>", "only the events of this purpose")
    .requiredOption("--reason <text>", "why", reasonReader(context))
    .option("--approver <name>", "who decided it; required without --request", written("an approver", 256))
    .option("--request <request-id>", "the open data request that asks for it", uuid)
    .option("--dry-run", "say what it would hide, and place nothing")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example(
        'drs restriction add --account customer-1 --article 18 --reason "disputes the accuracy" --approver "J. Doe"',
        'drs restriction add --account customer-1 --article 21 --purpose fraud --reason "objects" --request 5f0c2b9e-…',
      ),
    )
    .action(async (options: AddOptions, self: Command) => {
      const { approver, request, dryRun = false, json = false } = options;
      if (approver === undefined && request === undefined) {
        self.error("error: one of --approver, --request says who decided it");
      }
      const placed = await place(context, options, dryRun);
      if (json) return printJson(context, { ...placed, dry_run: dryRun });
      if (dryRun) print(context, `It would hide ${plural(placed.events, "event")}. Nothing was changed.`);
      else
        print(context, `Restriction ${placed.restriction_id} hides ${plural(placed.events, "event")} from analysis.`);
    });
}

function place(context: Context, options: AddOptions, dryRun: boolean): Promise<PlacedRestriction> {
  const { account: of, purpose, article, reason, approver, request: requestId } = options;
  const asked = { account: of, purpose, article: Number(article) as RestrictionArticle, reason, approver, requestId };
  return withRestrictionOrder(context, dryRun, (executor, ports) =>
    restrictAccount(executor, ports, asked, agentOf(context)),
  );
}

/** Runs an order on a restriction and its audit entry in one transaction. */
function withRestrictionOrder<T>(
  context: Context,
  isTried: boolean,
  work: (owner: OwnerTransaction, ports: AuditedRestrictionPorts) => Promise<T>,
): Promise<T> {
  return withConnection(context, "change", (connection) =>
    inOrder(
      portsOn(connection),
      (owner, audit, ports) => {
        const { pseudonymizer, ...journal } = ports();
        return work(owner, { clock: audit.clock, audit, pseudonymizer, journal: isTried ? undefined : journal });
      },
      isTried,
    ),
  );
}

function listCommand(context: Context): Command {
  return new Command("list")
    .description("List restrictions, active ones first.")
    .option("--account <account>", "only restrictions of this account", account)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs restriction list --json"))
    .action(async ({ account: of, json = false }: { account?: string; json?: boolean }) => {
      const rows = await withConnection(context, "read", async (connection) => {
        const mac = of === undefined ? undefined : (await openKeys(connection)).pseudonymizer.restrictedAccountOf(of);
        const purposes = await readPurposeIds(connection.pool);
        return (await listRestrictions(connection.pool, mac)).map((row) => {
          return { ...row, purpose: row.purpose === null ? null : purposes.get(row.purpose) };
        });
      });
      printRows(context, rows, json, "No restrictions.");
    });
}

function liftCommand(context: Context): Command {
  return new Command("lift")
    .description("End a restriction, after the person was informed that it ends.")
    .argument("<restriction-id>", "as `list` shows it", uuid)
    .requiredOption("--informed-on <date>", "when the person was informed (article 18 (3))", pastDay(context.clock))
    .requiredOption("--reason <text>", "why it ends", reasonReader(context))
    .option("--dry-run", "print what would be shown again, and change nothing")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs restriction lift 5f0c2b9e-… --informed-on 2026-11-20 --reason "the data was corrected"'),
    )
    .action(async (id: string, options: LiftOptions) => {
      const { dryRun = false, yes, json } = options;
      const would = await lift(context, id, options, true);
      const what = `Shown to analysts again: ${plural(would.events, "event")}.`;
      // guard(drop): nothing is shown to analysts again unasked
      // fails: e2e/restrictions.test.ts › shows the events again
      if (!dryRun) await confirm(context, { what, yes });
      const { events } = dryRun ? would : await lift(context, id, options, false);
      if (json) return printJson(context, { restriction_id: id, events, dry_run: dryRun });
      if (dryRun) print(context, `${what} Nothing was changed.`);
      else print(context, `Restriction ${id} is lifted. Shown to analysts again: ${plural(events, "event")}.`);
    });
}

function lift(
  context: Context,
  restrictionId: string,
  { informedOn, reason }: LiftOptions,
  isTried: boolean,
): Promise<LiftedRestriction> {
  return withRestrictionOrder(context, isTried, (executor, ports) =>
    liftAccountRestriction(executor, ports, restrictionId, { informedOn, reason }, agentOf(context)),
  );
}
