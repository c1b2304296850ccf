import { open, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Answer } from "@device-risk-signals/admin-api";
import { LIMITS } from "@device-risk-signals/contract";
import { Command, Option } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { type Call, call, withCalls } from "./call.ts";
import { installationLine, placeOf, showInstallation } from "./local.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson } from "./context.ts";
import { printTable, type TableOptions, withTableOptions } from "./table.ts";
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

interface RunOptions extends PlanOptions, BreakGlassOptions {
  readonly reason: string;
  readonly receipt?: string;
  readonly refuseLater?: boolean;
  readonly unknown?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function eraseCommand(context: Context): Command {
  return new Command("erase")
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
    .addOption(
      new Option("--account <account>", "everything of this account").argParser(account).conflicts(["action", "event"]),
    )
    .addOption(new Option("--purpose <id>", "with --account: only the data of this purpose"))
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
      const plan = await call(context, "planErasure", subjectOf(options));
      if (options.json) return printJson(context, plan);
      print(context, sentence(plan));
      for (const line of recallLines(plan.exports)) print(context, line);
    });
}

function runCommand(context: Context): Command {
  return withSubject(new Command("run"))
    .description("Erase. Safe to interrupt and repeat: an erasure that has started is finished.")
    .requiredOption("--reason <text>", "why", reasonReader(context))
    .option("--receipt <file>", "write the signed receipt to this file")
    .option("--refuse-later", "with --account: refuse later events of the account, too")
    .option("--unknown", "erase a subject of which nothing is known here, because a backup may have it")
    .option("--dry-run", "print what would be deleted, and change nothing")
    .option("--yes", "do not ask")
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      example('drs erase run --account customer-1 --reason "request 17" --receipt receipt.jws --yes'),
    )
    .action(async (options: RunOptions, self: Command) => {
      requireSubject(options, self);
      if (options.refuseLater && (options.account === undefined || options.purpose !== undefined)) {
        self.error("error: --refuse-later needs --account, and can't be combined with --purpose");
      }
      if (!options.dryRun) {
        const erasing = requireBreakGlass(context, options);
        return withCalls(erasing, "change", async (invoke) => {
          await showInstallation(erasing, invoke);
          return run(erasing, invoke, options);
        });
      }
      const input = { ...subjectOf(options), reason: options.reason, dry_run: true };
      const { plan, is_known } = await call(context, "runErasure", input);
      if (options.json) printJson(context, { ...plan, is_known, dry_run: true });
      else {
        print(context, `${is_known ? sentence(plan) : UNKNOWN} Nothing was changed.`);
        for (const line of recallLines(plan.exports)) print(context, line);
      }
    });
}

/** The message about a subject of which the database has no data and no erasure. */
const UNKNOWN =
  "Nothing is known of this subject here: check the spelling. If a backup may have the subject, --unknown writes the " +
  "erasure into the journal, so that a restore of the backup erases the subject.";

const WOULD_ERASE_IN_BACKUPS =
  "Nothing is known of this subject here. The erasure is written into the journal, so that a restore of a backup " +
  "erases the subject.";

const ERASED_IN_BACKUPS =
  "Nothing is known of this subject here. The journal has its erasure, and a restore of a backup erases the subject.";

/**
 * Begins an erasure only after the user has confirmed it. An erasure that was started earlier is finished without a
 * confirmation.
 */
async function run(context: Context, invoke: Call, options: RunOptions): Promise<void> {
  const { reason, refuseLater = false, receipt: file, yes, json } = options;
  const input = {
    ...subjectOf(options),
    reason,
    ...(refuseLater && { refuse_later: true }),
    ...(options.unknown && { unknown: true }),
  };
  const { plan, is_known: isKnown, is_needed: isNeeded } = await invoke("runErasure", { ...input, dry_run: true });
  if (!isNeeded && !isKnown) throw new OperatorError("not-found", UNKNOWN);
  const path = file === undefined ? undefined : resolve(context.directory, file);
  if (isNeeded) {
    const what = isKnown ? [sentence(plan), ...recallLines(plan.exports)] : [WOULD_ERASE_IN_BACKUPS];
    await confirm(context, { what, yes, where: placeOf(context) });
    // guard(drop): an erasure does not begin if its receipt can't be written
    if (path !== undefined) await requireWritable(path);
  }
  const erased = await invoke("runErasure", isNeeded ? input : { ...input, only_finish: true });
  const { erasure, still_held: kept } = erased;
  if (!erasure) {
    if (json) printJson(context, { ...erased.plan, dry_run: false });
    else print(context, "Nothing is left: the subject was erased before.");
    throw partlyDone(kept);
  }
  if (path !== undefined) await writeReceipt(path, erasure.erasure_id, erased.receipt);
  const { recalls } = erased;
  if (json) printJson(context, { ...erasure, recalls, is_known: isKnown, dry_run: false });
  else {
    if (!isKnown) print(context, ERASED_IN_BACKUPS);
    print(context, `${erased.is_needed ? "" : "Nothing is left. "}${summaryOf(erasure)}`);
    for (const line of recallLines(recalls)) print(context, line);
  }
  // guard(drop): a command reports the events that a hold keeps
  if (kept > 0) throw partlyDone(kept);
}

const partlyDone = (kept: number): OperatorError =>
  new OperatorError("partly-done", `A hold keeps ${plural(kept, "event")} until it ends. See drs hold list.`);

/** Tests that the receipt can be written, before anything is erased. */
async function requireWritable(file: string): Promise<void> {
  const opened = await open(file, "a", 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      "output-failed",
      `Nothing was erased: the receipt can't be written to ${file} (${error.code}).`,
    );
  });
  await opened.close();
}

async function writeReceipt(path: string, erasureId: string, receipt: string | null): Promise<void> {
  if (receipt === null) {
    throw new OperatorError(
      "state-conflict",
      "The erasure has started and is not finished: run drs retention run to finish it.",
    );
  }
  await writeFile(path, `${receipt}\n`, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      "output-failed",
      `The erasure is done, but the receipt can't be written to ${path} (${error.code}): run drs receipt get ${erasureId}`,
    );
  });
}

function acceptLossCommand(context: Context): Command {
  return new Command("accept-loss")
    .description("Accept that an entry of the erasure journal is permanently lost.")
    .requiredOption("--entry <number>", "the entry that a message names", entryNumber)
    .requiredOption("--reason <text>", "why it can't be restored", reasonReader(context))
    .option("--yes", "do not ask")
    .addHelpText("after", example('drs erase accept-loss --entry 3 --reason "disk 2 failed, no copy" --yes'))
    .action(async ({ entry: sequence, reason, yes }: { entry: number; reason: string; yes?: boolean }) => {
      await withCalls(context, "change", async (invoke) => {
        await invoke("acceptJournalLoss", { entry: sequence, reason, dry_run: true });
        const what = `What entry ${sequence} erased may be readable again after a restore, and what it held may be deleted.`;
        await confirm(context, { what, yes, where: placeOf(context) });
        await invoke("acceptJournalLoss", { entry: sequence, reason });
      });
      print(context, `The loss of entry ${sequence} is accepted. Run drs erase replay, and start the servers again.`);
    });
}

function listCommand(context: Context): Command {
  return withTableOptions(withSubject(new Command("list")))
    .description("List erasures, newest first: all, or the erasures of one subject.")
    .addHelpText("after", example("drs erase list", "drs erase list --account customer-1"))
    .action(async (options: SubjectOptions & TableOptions, self: Command) => {
      if (options.purpose !== undefined && options.account === undefined) {
        self.error("error: --purpose needs --account");
      }
      const { erasures } = await call(context, "listErasures", subjectOf(options));
      printTable(
        context,
        erasures,
        {
          empty: "No erasures.",
          columns: ["erasure_id", "kind", "began_at", "finished_at", "still_held", "reason"],
        },
        options,
      );
    });
}

function replayCommand(context: Context): Command {
  return new Command("replay")
    .description("Apply what the erasure journal has and the database or the key store lacks.")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs erase replay"))
    .action(async ({ json = false }: { json?: boolean }) => {
      // A process whose environment names an admin API must also be able to replay the journal of its own stores.
      const local = { ...context, isLocal: true };
      const { describeReplayed, replayJournal, replayPorts, requireJournal, withInstallation } = await loadReplay();
      const replayed = await withInstallation(local, "change", async (installation) => {
        context.stderr.write(installationLine(local, installation.codec.installation));
        requireJournal(installation);
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

/** Imported when the command runs, so that the other commands start sooner. */
async function loadReplay() {
  return {
    ...(await import("./connection.ts")),
    ...(await import("../runtime/lifecycle-ports.ts")),
    ...(await import("../runtime/recover.ts")),
    ...(await import("../lifecycle/recovery/replay-journal.ts")),
  };
}

function requireSubject({ account: of, purpose, action, event }: SubjectOptions, command: Command): void {
  if (of === undefined && action === undefined && event === undefined) {
    command.error("error: give --account, --action or --event, to say what to erase");
  }
  if (purpose !== undefined && of === undefined) command.error("error: --purpose needs --account");
}

const subjectOf = ({ account: of, purpose, action, event }: SubjectOptions) => ({
  ...(of !== undefined && { account: of }),
  ...(purpose !== undefined && { purpose }),
  ...(action !== undefined && { action_id: action }),
  ...(event !== undefined && { event_id: event }),
});

function sentence(plan: Answer<"planErasure">): string {
  const { events, held, still_held, released, idempotency_keys, tokens, actions, keys, features } = plan;
  const erased = [
    plural(events, "event"),
    plural(idempotency_keys, "idempotency key"),
    plural(tokens, "token"),
    plural(actions, "action"),
    plural(keys, "secret"),
    ...(features > 0 ? [plural(features, "row of features", "rows of features")] : []),
  ].join(", ");
  const ended =
    released > 0
      ? ` The next retention pass deletes ${plural(released, "copy", "copies")} of holds that have ended.`
      : "";
  return `To erase: ${erased}; a hold keeps ${plural(held + still_held, "event")}.${ended}`;
}

const recallLines = (exports: Answer<"runErasure">["recalls"]): readonly string[] =>
  exports.map(
    ({ export_id, recipient, rows }) =>
      `${plural(rows, "row")} of the export to ${recipient} to recall: drs export recall ${export_id}`,
  );

function summaryOf({
  unreadable,
  features,
  erasure_id,
  events,
  idempotency_keys,
  tokens,
  actions,
  began_at,
  destroyed_keys,
}: NonNullable<Answer<"runErasure">["erasure"]>): string {
  return (
    `Erasure ${erasure_id} of ${began_at}. Deleted: ${plural(events, "event")}, ${plural(tokens, "token")}, ${plural(actions, "action")}; ` +
    `replaced by tombstones: ${plural(idempotency_keys, "idempotency key")}; destroyed: ${plural(destroyed_keys.length, "secret")}.` +
    (features > 0 ? ` Deleted: ${plural(features, "row of features", "rows of features")}.` : "") +
    (unreadable > 0 ? ` Deleted without a copy, because unreadable: ${plural(unreadable, "event")} under a hold.` : "")
  );
}
