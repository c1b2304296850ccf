import type { Answer } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { withCalls } from "./call.ts";
import { type Context } from "./context.ts";
import { isTable, printRows, printTable, type TableOptions, withTableOptions } from "./table.ts";
import { example } from "./options.ts";
import { groupOf, routeCommand } from "./route-command.ts";
import { fullIdOf, type IdList, idOrEnd } from "./short-id.ts";

type Backfill = Answer<"startBackfill">;

const IDS: IdList = { list: "listBackfills", rows: "backfills", id: "run_id" };

export function backfillCommand(context: Context): Command {
  const change = (name: string, route: "pauseBackfill" | "resumeBackfill" | "cancelBackfill", help: string): Command =>
    routeCommand(context, {
      name,
      route,
      help,
      argument: ["run_id", "id of the backfill"],
      ids: IDS,
      examples: [`drs feature backfill ${name} ID`],
      lines: ({ state }) => `The backfill is ${state}.`,
    });
  return groupOf(
    "backfill",
    "drs feature backfill status",
    routeCommand(context, {
      name: "start",
      route: "startBackfill",
      help: "Start a backfill, which servers and drs feature work compute.",
      options: {
        purpose: { flags: "--purpose <id>", help: "purpose of the events" },
        layer: { flags: "--layer <number>", help: "one active layer of the purpose; by default all" },
        from: { flags: "--from <time>" },
        to: { flags: "--to <time>", help: "events received before this time; by default now" },
        rate: { flags: "--rate <number>" },
        reason: "why; recorded in the audit log",
      },
      examples: ['drs feature backfill start --purpose payments --reason "review 4711"'],
      lines: ({ run_id, layers }) => `Started: ${run_id}, ${plural(layers.length, "layer")}.`,
    }),
    statusCommand(context),
    change("pause", "pauseBackfill", "Pause a backfill."),
    change("resume", "resumeBackfill", "Resume a paused backfill where it was."),
    change("cancel", "cancelBackfill", "Cancel a backfill; what it stored stays."),
  ).description("Compute features of events that were stored before an adoption.");
}

function statusCommand(context: Context): Command {
  return withTableOptions(new Command("status"))
    .description("Show backfills, newest first. Exit code 3: a finished one lacks values.")
    .argument("[run]", "id of one backfill", idOrEnd)
    .addHelpText("after", example("drs feature backfill status --json"))
    .action(async (run: string | undefined, options: TableOptions) => {
      const { backfills } = await withCalls(context, "read", async (call) =>
        call("listBackfills", run === undefined ? {} : { run_id: await fullIdOf(call, IDS, run) }),
      );
      printTable(context, backfills, { empty: "No backfills.", columns: summary, shortened: "run_id" }, options);
      if (isTable(options) && run !== undefined) printRows(context, backfills[0]?.balances ?? [], "");
      requireBalanced(backfills);
    });
}

const summary = ({ run_id, purpose, layers, state, events, computed, remaining_seconds, balance }: Backfill) => ({
  run_id,
  purpose,
  layers: layers.join(" "),
  state,
  events,
  computed,
  remaining: remaining_seconds === null ? null : `${Math.ceil(remaining_seconds)} s`,
  missing: state === "done" ? balance.missing : null,
});

/** @throws backfill-unbalanced */
function requireBalanced(backfills: readonly Backfill[]): void {
  const differences = backfills
    .filter(({ state }) => state === "done")
    .flatMap(({ run_id, balances }) =>
      balances
        .filter(({ missing }) => missing > 0)
        .map(({ layer, missing, live }) => `${run_id} misses ${missing} of ${live} in layer ${layer}`),
    );
  if (differences.length === 0) return;
  throw new OperatorError("backfill-unbalanced", `The balance is not 0: ${differences.join("; ")}.`);
}
