/**
 * The commands of the audit log, which others can verify: `drs audit verify`, `export`, `proof`, `checkpoint`, `key`,
 * `switch-keys`, `epoch` and `prune`.
 */
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import type { Verified } from "../runtime/verify-audit.ts";
import type { VerificationRequest } from "../audit/verification-table.ts";
import { isOperatorErrorCode } from "../base/errors/codes.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call, withCalls } from "./call.ts";
import { confirm } from "./confirm.ts";
import { type Context, print, printJson, printText } from "./context.ts";
import {
  localContext,
  localOption,
  placeOf,
  type LocalOptions,
  showInstallation,
  showLocalInstallation,
} from "./local.ts";
import { findLogin, requireLocal } from "./login.ts";
import { example, time, TIMES, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";
import { routeCommand } from "./route-command.ts";

interface VerifyOptions {
  readonly checkpoint?: readonly string[];
  readonly key?: string;
  readonly since?: number;
  readonly json?: boolean;
}

/** Imported when a command runs, so that other commands start sooner. */
const loadWork = () => import("./audit-log-on-stores.ts");

export const auditLogCommands = (context: Context): readonly Command[] => [
  verifyCommand(context),
  verifiedCommand(context),
  exportCommand(context),
  proofCommand(context),
  checkpointCommand(context),
  keyCommand(context),
  switchKeysCommand(context),
  epochCommand(context),
  pruneCommand(context),
];

function verifyCommand(context: Context): Command {
  return new Command("verify")
    .description("Verify the audit log, in the database or in an export.")
    .argument("[export]", "a file of `drs audit export`; without it, the database")
    .option("--checkpoint <file...>", "a checkpoint that was kept outside")
    .option("--key <key>", "the key of the log, as `drs audit key` prints it")
    .option("--since <time>", `start at the last checkpoint at or before this time: ${TIMES}`, time(context.clock))
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs audit verify", "drs audit verify audit.ndjson --key KEY --checkpoint kept.note"))
    .action(async (file: string | undefined, { checkpoint = [], key, since, json = false }: VerifyOptions) => {
      if (file !== undefined && since !== undefined) {
        throw new OperatorError("input-invalid", "--since can't be combined with an export");
      }
      const given = await Promise.all(checkpoint.map((name) => readGiven(resolve(context.directory, name))));
      const result =
        file === undefined
          ? await verifyDatabase(context, {
              checkpoints: given,
              ...(key !== undefined && { key }),
              ...(since !== undefined && { since: new Date(since).toISOString() }),
            })
          : await (await loadWork()).verifyExport(resolve(context.directory, file), given, key);
      await report(context, result, json);
    });
}

const readGiven = (path: string): Promise<string> =>
  readFile(path, "utf8").catch((cause: unknown) => {
    throw new OperatorError("input-invalid", `${path} can't be read`, { cause });
  });

/** Signed in, a worker of the server verifies, because it has the MAC keys of all surfaces. */
async function verifyDatabase(context: Context, request: VerificationRequest): Promise<Verified> {
  return findLogin(context) ? verifyOnServer(context, request) : (await loadWork()).verifyHere(context, request);
}

const POLL_EVERY_MS = 1_000;
/** A worker starts within seconds, unless it verifies for another caller. */
const START_WITHIN_MS = 60_000;

function verifyOnServer(context: Context, request: VerificationRequest): Promise<Verified> {
  const { checkpoints, ...rest } = request;
  return withCalls(context, "change", async (call) => {
    const { installation } = await showInstallation(context, call);
    const { verification_id } = await call("startVerification", {
      ...rest,
      ...(checkpoints && { checkpoints: [...checkpoints] }),
    });
    const startedAt = performance.now();
    for (let shown = 0; ;) {
      const { state, read, result } = await call("readVerification", { verification_id });
      if (result) return verifiedOf(installation, result);
      if (state === "waiting" && performance.now() - startedAt > START_WITHIN_MS) {
        const what = `No worker has started verification ${verification_id} within a minute: see that a worker runs.`;
        throw new OperatorError("dependency-unavailable", what);
      }
      if (read > shown) context.stderr.write(`verified ${plural(read, "item")} of the log\n`);
      shown = read;
      await sleep(POLL_EVERY_MS);
    }
  });
}

function verifiedOf(
  installation: string,
  { error, lacks_keys_of: lacksKeysOf, verdict, ...rest }: VerificationResult,
): Verified {
  if (error)
    throw new OperatorError(
      isOperatorErrorCode(error.code) ? (error.code as "audit-unchecked") : "audit-unchecked",
      error.message,
    );
  return {
    ...rest,
    installation,
    verdict: verdict as Verified["verdict"],
    findings: rest.findings as Verified["findings"],
    sinks: rest.sinks as NonNullable<Verified["sinks"]>,
    ...(lacksKeysOf !== null && { lacksKeysOf }),
  };
}

type VerificationResult = NonNullable<Answer<"readVerification">["result"]>;

async function report(context: Context, { verdict, sinks = [], ...result }: Verified, json: boolean): Promise<void> {
  if (json) printJson(context, { verdict, ...result, sinks });
  else {
    for (const { kind, what } of result.findings) print(context, `${kind}: ${what}`);
    for (const { name, state, size } of sinks) {
      if (state !== "current")
        print(context, `sink ${state}: ${name} has a checkpoint of ${plural(size, "entry", "entries")}.`);
    }
  }
  const { size, from, confirmed, waiting, overdue, lacksKeysOf } = result;
  const after = from > 0 ? `, verified after the first ${from}` : "";
  const counts = `${plural(size, "entry", "entries")}${after}, of which checkpoints kept outside confirm ${confirmed}`;
  if (verdict === 6) throw new OperatorError("audit-log-broken", `The audit log is broken: ${counts}.`);
  if (lacksKeysOf !== undefined) {
    throw (await loadWork()).unchecked(`${lacksKeysOf} activates keys that this process lacks: set DRS_AUDIT_KEY_FILE`);
  }
  if (verdict === 1) throw (await loadWork()).unchecked("no checkpoint of this key was found");
  const late = overdue > 0 ? `; ${overdue} more are in no checkpoint for more than a minute` : "";
  if (verdict === 3) throw new OperatorError("audit-unconfirmed", `The audit log holds: ${counts}${late}.`);
  if (!json) print(context, `The audit log holds: ${counts}; ${waiting} more wait for the next checkpoint.`);
}

function exportCommand(context: Context): Command {
  return new Command("export")
    .description("Write the audit log to a file that any verifier can check.")
    .requiredOption("--out <file>", "a new file")
    .addHelpText("after", example("drs audit export --out audit.ndjson"))
    .action(async ({ out }: { out: string }) => {
      const path = resolve(context.directory, out);
      await withCalls(context, "read", async (call) => {
        const lines = await call("exportAudit", {});
        const text = async function* (): AsyncGenerator<string> {
          for await (const line of lines) yield `${JSON.stringify(line)}\n`;
        };
        await pipeline(text(), createWriteStream(path, { mode: 0o600, flags: "wx" })).catch((cause: unknown) => {
          if ((cause as NodeJS.ErrnoException).code?.startsWith("E") !== true) throw cause;
          throw new OperatorError("output-failed", `${path} can't be written`, { cause });
        });
      });
      print(context, `Exported to ${path}.`);
    });
}

function proofCommand(context: Context): Command {
  return new Command("proof")
    .description("Print a proof that the audit log has an entry (C2SP tlog-proof).")
    .argument("<entry-id>", "the id of the entry", uuid)
    .addHelpText("after", example("drs audit proof 019a…-… > entry.tlog-proof"))
    .action(async (entryId: string) => {
      const { proof } = await call(context, "readProof", { entry_id: entryId });
      printText(context, proof.replace(/\n$/, ""));
    });
}

function checkpointCommand(context: Context): Command {
  return new Command("checkpoint")
    .description("Sign a checkpoint of the audit log now, and print it.")
    .addHelpText("after", example("drs audit checkpoint > checkpoint.note"))
    .action(async () => {
      const { checkpoint } = await call(context, "signCheckpoint", {});
      printText(context, checkpoint.replace(/\n$/, ""));
    });
}

function keyCommand(context: Context): Command {
  return new Command("key")
    .description("Print the public key of the audit log, for verifiers.")
    .addHelpText("after", example("drs audit key"))
    .action(async () => {
      const { key } = await call(context, "readAuditKey", {});
      print(context, key);
    });
}

function switchKeysCommand(context: Context): Command {
  return new Command("switch-keys")
    .description("Activate the keys of DRS_AUDIT_KEY_FILE: from now on, earlier keys are refused.")
    .addOption(localOption())
    .addHelpText("after", example("drs audit switch-keys"))
    .action(async (options: LocalOptions) => {
      const isChanged = await (await loadWork()).switchKeys(localContext(context, options));
      print(
        context,
        isChanged
          ? "Entries must have the keys of DRS_AUDIT_KEY_FILE from now on."
          : "Nothing to change: the keys of DRS_AUDIT_KEY_FILE are active.",
      );
    });
}

const VERDICTS: Readonly<Record<number, string>> = {
  0: "intact, and confirmed outside",
  1: "could not be verified",
  3: "intact, but its last entries are not confirmed outside",
  6: "broken",
};

const verifiedCommand = (context: Context): Command =>
  routeCommand(context, {
    name: "verified",
    route: "readLastVerification",
    help: "Show what the last verification found: a worker verifies once a day.",
    examples: ["drs audit verified"],
    lines: ({ last }) =>
      last?.result
        ? `${last.ended_at ?? ""}: ${VERDICTS[last.result.verdict]}; ${plural(last.result.size, "entry", "entries")}.`
        : "No verification has ended in 30 days: run drs audit verify.",
  });

function epochCommand(context: Context): Command {
  return new Command("epoch")
    .description("Continue the log of a database that was restored to an earlier state.")
    .requiredOption("--reason <text>", "what was restored, and why", reasonReader(context))
    .addOption(localOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs audit epoch --reason "restore of the backup of 21 November"'))
    .action(async ({ reason, json = false, ...options }: EpochOptions) => {
      const { epoch, reviewId, errors } = await (await loadWork()).startEpoch(localContext(context, options), reason);
      if (json) printJson(context, { epoch, review_id: reviewId });
      else print(context, `Epoch ${epoch} is started. drs audit verify reports it until review ${reviewId} is closed.`);
      if (errors[0] !== undefined) throw errors[0];
    });
}

interface EpochOptions extends LocalOptions {
  readonly reason: string;
  readonly json?: boolean;
}

interface PruneOptions extends BreakGlassOptions, LocalOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

function pruneCommand(context: Context): Command {
  return new Command("prune")
    .description("Delete the entries that are older than DRS_AUDIT_RETENTION.")
    .option("--yes", "do not ask")
    .addOption(breakGlassOption())
    .addOption(localOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs audit prune"))
    .action(async (options: PruneOptions) => {
      const { yes, json = false } = options;
      const local = localContext(context, options);
      requireLocal(local);
      const pruning = requireBreakGlass(local, options);
      await showLocalInstallation(pruning);
      await confirm(context, {
        what: "This deletes the audit entries that are older than DRS_AUDIT_RETENTION.",
        yes,
        where: placeOf(local),
      });
      const pruned = await (await loadWork()).prune(pruning);
      if (json) printJson(context, { entries: 0, ...pruned });
      else if (!pruned) print(context, "No entry is older than DRS_AUDIT_RETENTION. Nothing was deleted.");
      else print(context, `Deleted ${plural(pruned.entries, "entry", "entries")}. The log starts at ${pruned.at}.`);
    });
}
