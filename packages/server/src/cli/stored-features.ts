import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Answer, Input } from "@device-risk-signals/admin-api";
import { type Command, InvalidArgumentError } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call, withCalls } from "./call.ts";
import { backfillCommand } from "./feature-backfill.ts";
import { type Context, print, printJson } from "./context.ts";
import { printRows, printTable, withTableOptions } from "./table.ts";
import { featureName } from "./feature-name.ts";
import { account, count, example, name, uuid, waitTime } from "./options.ts";
import { type PageOptions, pagesOf, type ReadPage } from "./pages.ts";
import { reasonReader } from "./reason.ts";

function limit(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1_000) {
    throw new InvalidArgumentError("It must be a whole number from 1 to 1000.");
  }
  return value;
}

const featureNames = (text: string, before: string[] = []): string[] => [...before, featureName(text)];

interface DecideOptions extends BreakGlassOptions {
  readonly purpose: string;
  readonly reason: string;
  readonly acceptRefusals?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Commands on the features of an installation: decisions, layers, values, backfills, and `drs feature work`. */
export function addStoredFeatures(command: Command, context: Context): void {
  addDecisions(command, context);
  addReads(command, context);
  command.addCommand(backfillCommand(context));
  command
    .command("work")
    .description("Compute the features of stored events until SIGTERM or SIGINT.")
    .addHelpText("after", example("drs feature work"))
    .action(async () => {
      const { workOnFeatures } = await import("./feature-work.ts");
      await workOnFeatures(context);
    });
}

function addDecisions(command: Command, context: Context): void {
  const reason = reasonReader(context);
  const purpose = name("a purpose", 64);

  command
    .command("propose")
    .description("Archive versions of features, with evidence about their inputs.")
    .argument("<path>", "folder with definitions, or JSON: an array of bundles")
    .requiredOption("--reason <text>", "why; recorded in the audit log", reason)
    .option("--dry-run", "print the evidence, and archive nothing")
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs feature propose features/ --reason "review 4711"'))
    .action(async (path: string, options: Pick<DecideOptions, "reason" | "dryRun" | "breakGlass" | "json">) => {
      const bundles = await readBundles(context, path, { isLocked: true });
      const input = { bundles, reason: options.reason, dry_run: options.dryRun ?? false };
      const answer = await call(deciding(context, options), "proposeFeatures", input);
      if (options.json) return printJson(context, answer);
      printEvidence(context, answer.evidence);
      print(context, answer.dry_run ? "Nothing was archived." : `Proposed: ${listed(answer.proposed)}.`);
    });

  command
    .command("equivalent")
    .description("Record that programs give the same values as the archived ones.")
    .argument("<path>", "folder with definitions, or JSON: an array of bundles")
    .requiredOption("--reason <text>", "why; recorded in the audit log", reason)
    .option("--dry-run", "compute, and record nothing")
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs feature equivalent features/ --reason "bundler upgrade"'))
    .action(async (path: string, options: Pick<DecideOptions, "reason" | "dryRun" | "breakGlass" | "json">) => {
      const bundles = await readBundles(context, path, { isLocked: false });
      const answer = await call(deciding(context, options), "recordEquivalence", {
        bundles,
        reason: options.reason,
        dry_run: options.dryRun ?? false,
      });
      if (!answer.dry_run) await lockEquivalents(resolve(context.directory, path), bundles);
      if (options.json) return printJson(context, answer);
      const rows = answer.programs.map(({ feature, events, cases }) => ({ feature, events, cases }));
      printRows(context, rows, "All programs are the same as the archived ones.");
      if (rows.length > 0)
        print(context, answer.dry_run ? "Equivalent. Nothing was recorded." : "Recorded as equivalent.");
    });

  command
    .command("adopt")
    .description("Compute versions of features for the events of a purpose from now on.")
    .argument("<feature...>", "versions, such as root_traces@2", featureNames)
    .requiredOption("--purpose <id>", "purpose of the events that they are computed from", purpose)
    .requiredOption("--reason <text>", "why; recorded in the audit log", reason)
    .option("--accept-refusals", "adopt although ingestion would have refused events")
    .option("--dry-run", "print the evidence, and adopt nothing")
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs feature adopt root_traces@2 --purpose payments --reason "review 4711"'))
    .action(async (features: string[], options: DecideOptions) => {
      const answer = await call(deciding(context, options), "adoptFeatures", {
        features,
        purpose: options.purpose,
        reason: options.reason,
        accept_refusals: options.acceptRefusals ?? false,
        dry_run: options.dryRun ?? false,
      });
      if (options.json) return printJson(context, answer);
      printEvidence(context, answer.evidence);
      print(context, answer.layer === null ? "Nothing was adopted." : `Adopted as layer ${answer.layer}.`);
    });

  command
    .command("retire")
    .description("Stop computing versions of features; stored values remain.")
    .argument("<feature...>", "versions, such as root_traces@2", featureNames)
    .requiredOption("--purpose <id>", "purpose that they were adopted for", purpose)
    .requiredOption("--reason <text>", "why; recorded in the audit log", reason)
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs feature retire root_traces@1 --purpose payments --reason "review 4712"'))
    .action(async (features: string[], options: DecideOptions) => {
      const input = { features, purpose: options.purpose, reason: options.reason };
      const answer = await call(context, "retireFeatures", input);
      if (options.json) return printJson(context, answer);
      print(context, `Retired: ${listed(features)}.`);
    });

  withTableOptions(command.command("decisions"))
    .description("List decisions about features, newest first.")
    .option("--feature <id@version>", "decisions about one version", featureName)
    .option("--limit <number>", "maximum number of rows, up to 1000", limit, 50)
    .addHelpText("after", example("drs feature decisions --feature root_traces@2 --json"))
    .action(async ({ feature, ...options }: PageOptions & { readonly feature?: string }) => {
      const input = { ...(feature !== undefined && { feature }), limit: options.limit };
      const { decisions } = await call(context, "listFeatureDecisions", input);
      const columns = ["decision", "kind", "features", "purpose", "decided_at", "decided_by"];
      printTable(context, decisions, { empty: "No decisions.", columns }, options);
    });
}

interface GetOptions {
  readonly event?: string;
  readonly action?: string;
  readonly account?: string;
  readonly wait: number;
  readonly limit: number;
  readonly includeRestricted?: boolean;
  readonly case?: string;
  readonly json?: boolean;
}

function addReads(command: Command, context: Context): void {
  command
    .command("layers")
    .description("List which features are computed for which purpose, and what is due.")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs feature layers"))
    .action(async ({ json = false }: { json?: boolean }) => {
      const answer = await call(context, "readLayers", {});
      if (json) return printJson(context, answer);
      printRows(context, answer.layers, "No features were adopted yet.");
      const { due_batches, lag_seconds } = answer;
      print(context, `Due: ${due_batches} commit batches; the oldest since ${Math.round(lag_seconds)} s.`);
    });

  command
    .command("get")
    .description("Print the features of an event, an action or an account.")
    .option("--event <id>", "one event", uuid)
    .option("--action <id>", "the events of an action", name("an action id", 128))
    .option("--account <name>", "the events of an account", account)
    .option("--wait <duration>", "how long to wait for pending features, up to 5s", waitTime, 0)
    .option("--limit <number>", "maximum number of events; 0 = no limit", count, 50)
    .option("--include-restricted", "also features of events that are excluded from analysis; needs --case")
    .option("--case <case-id>", "an open case of yours that covers the events", uuid)
    .option("--json", "print one JSON object per event")
    .addHelpText("after", example("drs feature get --event ID", "drs feature get --action act_1 --wait 1s --json"))
    .action(async ({ event, action, account: of, wait, limit: rowLimit, json = false, ...options }: GetOptions) => {
      const { includeRestricted = false, case: caseId } = options;
      if (includeRestricted !== (caseId !== undefined)) {
        throw new OperatorError("wrong-usage", "Give --include-restricted and --case together.");
      }
      const input: Omit<Input<"readFeatures">, "limit" | "after"> = {
        ...(event !== undefined && { event_id: event }),
        ...(action !== undefined && { action_id: action }),
        ...(of !== undefined && { account: of }),
        wait_ms: Math.min(wait, 5_000),
        ...(caseId !== undefined && { include_restricted: true, case_id: caseId }),
      };
      if ([event, action, of].filter((value) => value !== undefined).length !== 1) {
        throw new OperatorError("wrong-usage", "Give exactly one of --event, --action and --account.");
      }
      await withCalls(context, "audited-read", async (callOne) => {
        const read: ReadPage<Answer<"readFeatures">["events"][number]> = async (page) => {
          const { events, next } = await callOne("readFeatures", { ...input, ...page });
          return { rows: events, next };
        };
        for await (const events of pagesOf(rowLimit, read)) {
          for (const one of events) {
            if (json) printJson(context, one);
            else printFeatures(context, one);
          }
          if (context.stdout.destroyed) break;
        }
      });
    });
}

function printFeatures(context: Context, event: Answer<"readFeatures">["events"][number]): void {
  const { event_id, status, reason, features } = event;
  print(context, `${event_id}: ${status}${reason === null ? "" : ` (${reason})`}`);
  const rows = features.map(({ feature, state, value, inputs }) => ({
    feature,
    state,
    value,
    inputs: inputs.join(" "),
  }));
  if (rows.length > 0) printRows(context, rows, "");
}

function printEvidence(
  context: Context,
  { events, days, coverage, refused }: Answer<"adoptFeatures">["evidence"],
): void {
  print(context, `Evidence: ${plural(events, "event")} of the last ${days} days.`);
  printRows(context, coverage, "No event has these inputs.");
  for (const { platform, sdk_version, refused: of, events: all } of refused) {
    if (of > 0) print(context, `Ingestion would have refused ${of} of ${all} events of ${platform} ${sdk_version}.`);
  }
}

/**
 * Requires break-glass for a decision that is not a dry run. Such a decision reads payloads: its evidence is computed
 * from stored events.
 */
const deciding = (context: Context, options: BreakGlassOptions & { readonly dryRun?: boolean }): Context =>
  options.dryRun ? context : requireBreakGlass(context, options);

const listed = (names: readonly string[]): string => (names.length === 0 ? "nothing new" : names.join(", "));

type Bundles = Input<"proposeFeatures">["bundles"];

async function readBundles(
  { directory }: Context,
  name: string,
  options: { readonly isLocked: boolean },
): Promise<Bundles> {
  const path = resolve(directory, name);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError("input-invalid", `${path} can't be read (${error.code})`);
  });
  return found.isDirectory() ? buildBundles(path, options) : parseBundles(path, await readFile(path, "utf8"));
}

/** @throws input-invalid with every problem of the definitions. */
async function buildBundles(folder: string, options: { readonly isLocked: boolean }): Promise<Bundles> {
  const { buildProposal } = await import("@device-risk-signals/features/project");
  const { bundles, problems } = await buildProposal(folder, options);
  if (problems.length === 0) return [...bundles];
  throw new OperatorError("input-invalid", [`${folder} can't be proposed:`, ...problems].join("\n  "));
}

/**
 * Writes the programs into the lock file of a folder of definitions, so that later checks of the folder accept them.
 */
async function lockEquivalents(path: string, bundles: Bundles): Promise<void> {
  if (!(await stat(path)).isDirectory()) return;
  const { lockEquivalents: lock } = await import("@device-risk-signals/features/project");
  const problems = lock(path, bundles);
  if (problems.length > 0) throw new OperatorError("output-failed", problems.join("\n"));
}

function parseBundles(path: string, text: string): Bundles {
  try {
    return JSON.parse(text) as Bundles;
  } catch (cause) {
    throw new OperatorError("input-invalid", `${path} is not JSON`, { cause });
  }
}
