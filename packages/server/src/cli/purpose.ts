import { readFile } from "node:fs/promises";
import { OperatorError } from "../errors/operator-error.ts";
import { plural } from "../messages/plural.ts";
import { resolve } from "node:path";
import { Command } from "commander";
import { BUILT_IN_PURPOSE } from "../ports.ts";
import { inTransaction } from "../postgres/database.ts";
import { requireRecovered } from "../app/recover.ts";
import {
  applyPolicy,
  type Applied,
  type Change,
  comparePolicy,
  readCurrentPolicy,
  readPolicyDocument,
} from "../policy/policy-table.ts";
import { recordOfProcessing } from "../policy/record-of-processing.ts";
import { confirm } from "./confirm.ts";
import {
  agentOf,
  type Context,
  loadConfig,
  print,
  printJson,
  printRows,
  withConnection,
  withInstallation,
  inOwnersTransaction,
} from "./context.ts";
import { example } from "./options.ts";

interface ApplyOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function purposeCommand(context: Context): Command {
  const command = new Command("purpose")
    .description("Why events are kept, and for how long.")
    .addHelpText("after", example("drs purpose apply purposes.yaml --dry-run"));

  command
    .command("apply")
    .description("Apply a policy file: purposes, and the purpose of each action type.")
    .argument("<file>", "YAML with purposes, actions and unmapped")
    .option("--dry-run", "print what would change, and change nothing")
    .option("--yes", "do not ask when events expire at once")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs purpose apply purposes.yaml --dry-run", "drs purpose apply purposes.yaml"))
    .action(async (file: string, { dryRun = false, yes, json = false }: ApplyOptions) => {
      loadConfig(context);
      const policy = await policyOf(context, file);
      let applied = await withConnection(context, "read", ({ pool }) =>
        inTransaction(pool, (transaction) => comparePolicy(transaction, policy, BUILT_IN_PURPOSE)),
      );
      // guard(true): a dry run changes nothing
      // fails: e2e/purposes.test.ts
      if (!dryRun) {
        const events = applied.changes.reduce(
          (sum, change) => sum + ("events" in change ? change.expire_at_once : 0),
          0,
        );
        if (events > 0) await confirm(context, { what: `Expired at once: ${plural(events, "event")}.`, yes });
        applied = await withInstallation(context, "change", async (installation) => {
          // An erasure of the journal may name the code of a purpose that this policy would give to another one.
          await requireRecovered(installation);
          return inOwnersTransaction(installation, (owner) =>
            applyPolicy(owner, installation.clock, policy, { builtIn: BUILT_IN_PURPOSE, agent: agentOf(context) }),
          );
        });
      }
      if (json) printJson(context, { ...applied, dry_run: dryRun });
      else printApplied(context, applied, dryRun);
    });

  command
    .command("list")
    .description("List the purposes, and which action types belong to each.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs purpose list"))
    .action(async ({ json = false }: { json?: boolean }) => {
      const { version, purposes, actions, unmapped } = await withConnection(context, "read", ({ pool }) =>
        readCurrentPolicy(pool, BUILT_IN_PURPOSE),
      );
      const rows = purposes.map(({ code, ...purpose }) => ({
        ...purpose,
        action_types: [...actions].filter(([, of]) => of === code).map(([type]) => type),
        takes_unmapped: code === unmapped,
        policy_version: version,
      }));
      printRows(context, rows, json, "No purposes.");
    });

  command
    .command("record")
    .description("Print the record of processing (GDPR, article 30) of the active policy, in Markdown.")
    .option("--json", "print one JSON object: the policy")
    .addHelpText("after", example("drs purpose record > record-of-processing.md"))
    .action(async ({ json = false }: { json?: boolean }) => {
      const policy = await withConnection(context, "read", ({ pool }) => readPolicyDocument(pool));
      if (!policy) throw new OperatorError("not-found", "No policy was applied yet: see drs purpose apply.");
      if (json) printJson(context, policy);
      else context.stdout.write(recordOfProcessing(policy));
    });
  return command;
}

async function policyOf({ directory }: Context, file: string): Promise<Parameters<typeof applyPolicy>[2]> {
  const path = resolve(directory, file);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError("input-invalid", `${path} can't be read (${error.code})`);
  });
  const { readPolicy } = await import("../policy/read-policy.ts");
  const result = readPolicy(text);
  if (result.ok) return result.policy;
  throw new OperatorError(
    "input-invalid",
    [`${path} is not a policy:`, ...result.problems.map((problem) => `  ${problem}`)].join("\n"),
  );
}

function printApplied(context: Context, { version, changes }: Applied, dryRun: boolean): void {
  for (const change of changes) print(context, described(change));
  if (dryRun) print(context, `Nothing was changed; policy ${version} is active.`);
  else print(context, `${changes.length === 0 ? "Nothing changes: policy" : "Policy"} ${version} is active.`);
}

function described(change: Change): string {
  if ("unmapped" in change) return `unmapped action types: ${change.from} -> ${change.unmapped}`;
  if ("action_type" in change) return `action ${change.action_type}: ${change.from ?? "-"} -> ${change.to ?? "-"}`;
  const members = change.members.length > 0 ? ` (${change.members.join(", ")})` : "";
  const at_once = change.expire_at_once > 0 ? `, ${change.expire_at_once} of them expire at once` : "";
  return `purpose ${change.purpose}: ${change.change}${members}; it holds ${plural(change.events, "event")}${at_once}`;
}
