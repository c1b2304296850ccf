import { open, writeFile } from "node:fs/promises";
import { OperatorError } from "../errors/operator-error.ts";
import { plural } from "../messages/plural.ts";
import { resolve } from "node:path";
import { LIMITS } from "@device-risk-signals/contract";
import { Command, Option } from "commander";
import { beginErasure } from "../lifecycle/erasure/begin-erasure.ts";
import { acceptLoss, requireLoss } from "../lifecycle/recovery/accept-loss.ts";
import { type Comparison, findKnownEntries } from "../lifecycle/recovery/compare-with-journal.ts";
import { replayJournal } from "../lifecycle/recovery/replay-journal.ts";
import { findLatestApplied } from "../journal/applied-entries.ts";
import { readWatermark } from "../journal/key-store-watermark.ts";
import type { KnownEntry } from "../journal/chain.ts";
import { AppendWatch } from "../journal/append-watch.ts";
import { type ErasureRow, findErasures, receiptOf } from "../lifecycle/erasure/erasures.ts";
import {
  type ErasurePlan,
  type ErasureSubject,
  accountSubjects,
  isNothing,
  planErasure,
  subjectMac,
} from "../lifecycle/erasure/plan-erasure.ts";
import type { OpenConnection } from "../app/connect.ts";
import type { Installation } from "../app/open-installation.ts";
import { openKeys } from "../app/open-keys.ts";
import { describeReplayed, replayPorts, requireRecovered } from "../app/recover.ts";
import { erasurePorts } from "../app/system.ts";
import { findPurposeCode, readPurposeIds } from "../policy/policy-table.ts";
import { finishErasuresNow } from "../lifecycle/retention-worker.ts";
import { writeAudit } from "../audit/audit.ts";
import { inOwnerTransaction } from "../postgres/database.ts";
import type { Executor } from "../postgres/executor.ts";
import { confirm } from "./confirm.ts";
import { agentOf, type Context, print, printJson, printRows, withConnection, withInstallation } from "./context.ts";
import { destroyedSecrets, refusingLost } from "../lifecycle/recovery/destroyed-secrets.ts";
import { journalPorts } from "../app/journal-ports.ts";
import { account, entryNumber, example, name, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";

interface SubjectOptions {
  readonly account?: string;
  readonly purpose?: string;
  readonly action?: string;
  readonly event?: string;
}

interface PlanOptions extends SubjectOptions {
  readonly json?: boolean;
}

interface RunOptions extends PlanOptions {
  readonly reason: string;
  readonly receipt?: string;
  readonly refuseLater?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function eraseCommand(context: Context): Command {
  return new Command("erase")
    .description("Erasure: of an account, of an account under one purpose, of an action's events, of one event.")
    .addHelpText("after", example("drs erase plan --account customer-1"))
    .addCommand(planCommand(context))
    .addCommand(runCommand(context))
    .addCommand(listCommand(context))
    .addCommand(replayCommand(context))
    .addCommand(acceptLossCommand(context));
}

function withSubject(command: Command): Command {
  const actionId = name("an action id", LIMITS.actionId);
  return command
    .addOption(new Option("--account <account>", "everything of it").argParser(account).conflicts(["action", "event"]))
    .addOption(new Option("--purpose <id>", "with --account: only what is kept under this purpose"))
    .addOption(
      new Option("--action <id>", "the events of this action").argParser(actionId).conflicts(["event", "purpose"]),
    )
    .addOption(new Option("--event <event-id>", "this event").argParser(uuid).conflicts("purpose"));
}

function planCommand(context: Context): Command {
  return withSubject(new Command("plan"))
    .description("Print what would be deleted, and what a hold keeps.")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs erase plan --account customer-1 --json"))
    .action(async (options: PlanOptions, self: Command) => {
      requireSubject(options, self);
      const { plan } = await withConnection(context, "read", async (connection) => {
        const found = await planOf(connection, options);
        if (isNothing(found.plan) && found.plan.still_held + found.plan.released === 0) {
          const { pseudonymizer } = await openKeys(connection);
          await requireKnown(connection.pool, subjectMac(pseudonymizer, found.subject));
        }
        return found;
      });
      if (options.json) return printJson(context, plan);
      print(context, sentence(plan));
    });
}

function runCommand(context: Context): Command {
  return withSubject(new Command("run"))
    .description("Erase. Safe to interrupt and repeat: an erasure that has started is completed.")
    .requiredOption("--reason <text>", "why", reasonReader(context))
    .option("--receipt <file>", "write the signed receipt to this file")
    .option("--refuse-later", "with --account: refuse its later events, too")
    .option("--dry-run", "print what would be deleted, and change nothing")
    .option("--yes", "do not ask")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs erase run --account customer-1 --reason "request 17" --receipt receipt.jws --yes'),
    )
    .action(async (options: RunOptions, self: Command) => {
      requireSubject(options, self);
      if (options.refuseLater && (options.account === undefined || options.purpose !== undefined)) {
        self.error("error: --refuse-later needs --account and excludes --purpose");
      }
      if (!options.dryRun) {
        return withInstallation(context, "change", (installation) => run(context, installation, options));
      }
      const { plan } = await withConnection(context, "read", (connection) => planOf(connection, options));
      if (options.json) printJson(context, { ...plan, dry_run: true });
      else print(context, `${sentence(plan)} Nothing was changed.`);
    });
}

async function planOf(
  { pool }: OpenConnection,
  options: SubjectOptions,
): Promise<{ readonly subject: ErasureSubject; readonly plan: ErasurePlan }> {
  const subject = await subjectOf(pool, options);
  return { subject, plan: await planErasure(pool, subject) };
}

async function run(context: Context, installation: Installation, options: RunOptions): Promise<void> {
  const { pool, pseudonymizer, accountKeys, database } = installation;
  const compared = await requireRecovered(installation);
  const { subject, plan } = await planOf(installation, options);
  const mac = subjectMac(pseudonymizer, subject);
  const what = sentence(plan);
  journalPorts(installation);
  await finishErasuresNow({ ...erasurePorts(installation), database });
  const refuses = options.refuseLater && !accountKeys.isRefused(options.account ?? "");
  const before = isNothing(plan) ? await findBefore(pool, mac, plan) : undefined;
  if (isNothing(plan) && before === undefined && !refuses) {
    if (options.json) printJson(context, { ...plan, dry_run: false });
    else print(context, "Nothing is left: it was erased before.");
    throw partlyDone(plan.still_held);
  }
  let sequence = before;
  // guard(left): an account that was erased can be refused later on
  // fails: e2e/erasure/account.test.ts › can add --refuse-later afterwards, once
  if (sequence === undefined || refuses) {
    await confirm(context, { what, yes: options.yes });
    // guard(drop): a receipt that can't be written stops an erasure first
    // fails: e2e/erasure/records.test.ts › stops before anything is erased if the receipt can't be written
    if (options.receipt !== undefined) await requireWritable(resolve(context.directory, options.receipt));
    // Another command may have been quicker: then nothing is left.
    sequence =
      (await erase(context, { ...installation, compared }, subject, options)) ?? (await requireKnown(pool, mac));
  }
  const [erasure] = await findErasures(pool, { sequence });
  if (!erasure) throw new Error("an erasure is not in the register");
  if (options.receipt !== undefined) {
    const path = resolve(context.directory, options.receipt);
    const receipt = await receiptOf(pool, sequence);
    if (receipt === undefined)
      throw new OperatorError(
        "state-conflict",
        "The erasure has started and is not finished: drs retention run finishes it.",
      );
    await writeFile(path, `${receipt}\n`, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      const advice = `drs receipt get ${erasure.erasure_id}`;
      throw new OperatorError(
        "output-failed",
        `It is erased; the receipt can't be written to ${path} (${error.code}): ${advice}`,
      );
    });
  }
  if (options.json) printJson(context, { ...erasure, dry_run: false });
  else print(context, `${sequence === before ? "Nothing is left. " : ""}${summaryOf(erasure)}`);
  const { still_held: kept } = await planErasure(pool, subject);
  // guard(drop): what a hold keeps is reported
  // fails: e2e/erasure/holds.test.ts › is kept with exit code 3 until the hold ends, then deleted
  if (kept > 0) throw partlyDone(kept);
}

const partlyDone = (kept: number): OperatorError =>
  new OperatorError("partly-done", `A hold keeps ${plural(kept, "event")} until it ends. See drs hold list.`);

/** The earlier erasure of this subject; `undefined` where another erasure deleted it and a hold keeps a part of it. */
async function findBefore(pool: OpenConnection["pool"], mac: Buffer, plan: ErasurePlan): Promise<number | undefined> {
  if (plan.still_held + plan.released === 0) return requireKnown(pool, mac);
  return (await findErasures(pool, { subjectMacs: [mac] }))[0]?.sequence;
}

/** Tests that the receipt can be written, before anything is erased. */
async function requireWritable(file: string): Promise<void> {
  const opened = await open(file, "a", 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      "output-failed",
      `Nothing is erased: the receipt can't be written to ${file} (${error.code}).`,
    );
  });
  await opened.close();
}

/** Erases a subject. The audit has the order, under the keyed MAC of its subject, before anything is deleted. */
async function erase(
  context: Context,
  installation: Installation & { readonly compared: Comparison },
  subject: ErasureSubject,
  { reason, refuseLater = false }: RunOptions,
): Promise<number | undefined> {
  const { pool, audit, secrets, sealer, pseudonymizer, administration, database, compared } = installation;
  const watch = new AppendWatch();
  const onUnreadable = refusingLost(secrets, destroyedSecrets(compared));
  const ports = { ...journalPorts(installation, watch), sealer, onUnreadable };
  const agent = agentOf(context);
  const subject_mac = subjectMac(pseudonymizer, subject).toString("hex");
  const detail = { kind: subject.kind, subject_mac, refuse_later: refuseLater };
  await writeAudit(pool, audit, { ...agent, operation: "erase.run", outcome: "begun", reason, detail });
  const sequence = await inOwnerTransaction(administration, (owner) =>
    beginErasure(owner, ports, { subject, actor: agent.actor, reason, refuseLater }),
  ).catch((error: unknown) => {
    throw watch.explain(error);
  });
  await finishErasuresNow({ ...erasurePorts(installation), database });
  return sequence;
}

/** Accepts the loss of an entry. It verifies the loss before it asks for confirmation. */
async function acceptLossOf(
  context: Context,
  installation: Installation,
  { sequence, reason, yes }: { sequence: number; reason: string; yes: boolean | undefined },
): Promise<void> {
  const ports = { ...journalPorts(installation), audit: installation.audit };
  const known = async (executor: Executor): Promise<readonly KnownEntry[]> =>
    findKnownEntries(installation, await findLatestApplied(executor), await readWatermark(installation.keyStore));
  await requireLoss(ports, await known(installation.pool), sequence);
  const what = `What entry ${sequence} erased may be readable again after a restore, and what it held may be deleted.`;
  await confirm(context, { what, yes });
  const statement = { sequence, ...agentOf(context), reason };
  await inOwnerTransaction(installation.administration, async (owner) =>
    acceptLoss(owner, ports, await known(owner), statement),
  );
}

function acceptLossCommand(context: Context): Command {
  return new Command("accept-loss")
    .description("Accept that an entry of the erasure journal is permanently lost.")
    .requiredOption("--entry <number>", "the entry that a message names", entryNumber)
    .requiredOption("--reason <text>", "why it can't be restored", reasonReader(context))
    .option("--yes", "do not ask")
    .addHelpText("after", example('drs erase accept-loss --entry 3 --reason "disk 2 failed, no copy" --yes'))
    .action(async ({ entry: sequence, reason, yes }: { entry: number; reason: string; yes?: boolean }) => {
      await withInstallation(context, "change", (installation) =>
        acceptLossOf(context, installation, { sequence, reason, yes }),
      );
      print(context, `The loss of entry ${sequence} is accepted. Run drs erase replay, and start the servers again.`);
    });
}

function listCommand(context: Context): Command {
  return withSubject(new Command("list"))
    .description("List erasures, newest first: all, or the erasures of one subject.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs erase list", "drs erase list --account customer-1"))
    .action(async (options: PlanOptions, self: Command) => {
      if (options.purpose !== undefined && options.account === undefined) {
        self.error("error: --purpose needs --account");
      }
      const rows = await withConnection(context, "read", async (connection) => {
        const { pool } = connection;
        const subjects = await subjectsOf(pool, options);
        if (!subjects) return findErasures(pool, {});
        const { pseudonymizer } = await openKeys(connection);
        return findErasures(pool, { subjectMacs: subjects.map((one) => subjectMac(pseudonymizer, one)) });
      });
      if (options.json) return printRows(context, rows, true, "");
      const shown = rows.map(({ erasure_id, kind, began_at, finished_at, events, still_held, actor, reason }) => {
        return { erasure_id, kind, began_at, finished_at, events, still_held, actor, reason };
      });
      printRows(context, shown, false, "No erasures.");
    });
}

function replayCommand(context: Context): Command {
  return new Command("replay")
    .description("Apply what the erasure journal has and the database or the key store lacks.")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs erase replay"))
    .action(async ({ json = false }: { json?: boolean }) => {
      const replayed = await withInstallation(context, "change", async (installation) => {
        journalPorts(installation);
        return replayJournal(replayPorts(installation), "start");
      });
      const {
        erasures,
        holdOrders: hold_orders,
        restrictionOrders: restriction_orders,
        keyStore: key_store,
      } = replayed;
      if (json) return printJson(context, { erasures, hold_orders, restriction_orders, key_store });
      const lines = describeReplayed(replayed);
      for (const line of lines) print(context, line);
      if (lines.length === 0) print(context, "The database and the key store have every entry of the journal.");
    });
}

function requireSubject({ account: of, purpose, action, event }: SubjectOptions, command: Command): void {
  if (of === undefined && action === undefined && event === undefined) {
    command.error("error: one of --account, --action, --event says what is erased");
  }
  if (purpose !== undefined && of === undefined) command.error("error: --purpose needs --account");
}

/**
 * The subjects whose erasures are listed: for an account also each of its purposes. `undefined` if the command names
 * none.
 */
async function subjectsOf(
  pool: OpenConnection["pool"],
  options: SubjectOptions,
): Promise<readonly ErasureSubject[] | undefined> {
  const { account: of, purpose, action, event } = options;
  if (of === undefined && action === undefined && event === undefined) return undefined;
  const subject = await subjectOf(pool, options);
  if (of === undefined || purpose !== undefined) return [subject];
  return accountSubjects(of, await readPurposeIds(pool));
}

async function subjectOf(pool: OpenConnection["pool"], options: SubjectOptions): Promise<ErasureSubject> {
  const { account: of = "", purpose, action, event } = options;
  if (action !== undefined) return { kind: "action", actionId: action };
  if (event !== undefined) return { kind: "event", eventId: event };
  if (purpose === undefined) return { kind: "account", account: of };
  const code = await findPurposeCode(pool, purpose);
  if (code === undefined) throw new OperatorError("not-found", `There is no purpose ${purpose}: see drs purpose list.`);
  return { kind: "purpose", account: of, purpose: code };
}

/** Finds the earlier erasure of a subject of which nothing is left. @throws not-found if the subject is unknown. */
async function requireKnown(pool: OpenConnection["pool"], mac: Buffer): Promise<number> {
  const [before] = await findErasures(pool, { subjectMacs: [mac] });
  if (!before) throw new OperatorError("not-found", "Nothing is known of this subject: check the spelling.");
  return before.sequence;
}

function sentence(plan: ErasurePlan): string {
  const { events, held, still_held, released, idempotency_keys, tokens, actions, keys } = plan;
  const erased = [
    plural(events, "event"),
    plural(idempotency_keys, "idempotency key"),
    plural(tokens, "token"),
    plural(actions, "action"),
    plural(keys, "secret"),
  ].join(", ");
  const ended =
    released > 0
      ? ` The next retention pass deletes ${plural(released, "copy", "copies")} of holds that have ended.`
      : "";
  return `To erase: ${erased}; a hold keeps ${plural(held + still_held, "event")}.${ended}`;
}

function summaryOf({
  unreadable,
  erasure_id,
  events,
  idempotency_keys,
  tokens,
  actions,
  began_at,
  destroyed_keys,
}: ErasureRow): string {
  return (
    `Erasure ${erasure_id} of ${began_at}. Deleted: ${plural(events, "event")}, ${plural(tokens, "token")}, ${plural(actions, "action")}; ` +
    `replaced by tombstones: ${plural(idempotency_keys, "idempotency key")}; destroyed: ${plural(destroyed_keys.length, "secret")}.` +
    (unreadable > 0 ? ` Deleted without a copy, because unreadable: ${plural(unreadable, "event")} under a hold.` : "")
  );
}
