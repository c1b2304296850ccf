import type { Answer } from "@device-risk-signals/admin-api";
import { Command, InvalidArgumentError } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { call } from "./call.ts";
import { type Context, print, printJson, printRows } from "./context.ts";
import { example, name, time, uuid } from "./options.ts";
import { reasonReader } from "./reason.ts";

type Backfill = Answer<"startBackfill">;

interface StartOptions {
  readonly purpose: string;
  readonly layer?: number;
  readonly from?: number;
  readonly to?: number;
  readonly rate?: number;
  readonly reason: string;
  readonly json?: boolean;
}

const upTo =
  (largest: number) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= largest) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${largest}.`);
  };

export function backfillCommand(context: Context): Command {
  const command = new Command("backfill")
    .description("Compute features of events that were stored before an adoption.")
    .addHelpText("after", example("drs feature backfill status"));

  command
    .command("start")
    .description("Start a backfill, which servers and drs feature work compute.")
    .requiredOption("--purpose <id>", "purpose of the events", name("a purpose", 64))
    .option("--layer <number>", "one active layer of the purpose; by default all", upTo(2_147_483_647))
    .option("--from <time>", "events received at or after this time", time)
    .option("--to <time>", "events received before this time; by default now", time)
    .option("--rate <number>", "maximum number of events per second", upTo(1_000_000))
    .requiredOption("--reason <text>", "why; recorded in the audit log", reasonReader(context))
    .option("--json", "print one JSON object")
    .addHelpText("after", example('drs feature backfill start --purpose payments --reason "review 4711"'))
    .action(async ({ purpose, layer, from, to, rate, reason, json = false }: StartOptions) => {
      const answer = await call(context, "startBackfill", {
        purpose,
        ...(layer !== undefined && { layer }),
        ...(from !== undefined && { from: new Date(from).toISOString() }),
        ...(to !== undefined && { to: new Date(to).toISOString() }),
        ...(rate !== undefined && { rate }),
        reason,
      });
      if (json) printJson(context, answer);
      else print(context, `Started: ${answer.run_id}, ${plural(answer.layers.length, "layer")}.`);
    });

  command
    .command("status")
    .description("Show backfills, newest first. Exit code 3: a finished one lacks values.")
    .argument("[run]", "id of one backfill", uuid)
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs feature backfill status --json"))
    .action(async (run: string | undefined, { json = false }: { json?: boolean }) => {
      const { backfills } = await call(context, "listBackfills", run === undefined ? {} : { run_id: run });
      printRows(context, json ? backfills : backfills.map(summary), json, "No backfills.");
      if (!json && run !== undefined) printRows(context, backfills[0]?.balances ?? [], false, "");
      requireBalanced(backfills);
    });

  for (const [verb, id, does] of [
    ["pause", "pauseBackfill", "Pause a backfill."],
    ["resume", "resumeBackfill", "Resume a paused backfill where it was."],
    ["cancel", "cancelBackfill", "Cancel a backfill; what it stored stays."],
  ] as const) {
    command
      .command(verb)
      .description(does)
      .argument("<run>", "id of the backfill", uuid)
      .option("--json", "print one JSON object")
      .addHelpText("after", example(`drs feature backfill ${verb} ID`))
      .action(async (run: string, { json = false }: { json?: boolean }) => {
        const answer = await call(context, id, { run_id: run });
        if (json) printJson(context, answer);
        else print(context, `The backfill is ${answer.state}.`);
      });
  }
  return command;
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
