import type { Answer } from "@device-risk-signals/admin-api";
import { describeProbes, type ProbeState } from "@device-risk-signals/contract/observations";
import { deviceOf } from "@device-risk-signals/contract/observations/device";
import { Command } from "commander";
import { breakGlassOption, type BreakGlassOptions, requireBreakGlass } from "./break-glass.ts";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { example, uuid } from "./options.ts";
import { printRows } from "./table.ts";

interface OpenOptions extends BreakGlassOptions {
  readonly case: string;
  readonly json?: boolean;
}

const uuids = (text: string, before: string[] = []): string[] => [...before, uuid(text)];

/** `drs event open`. */
export function openCommand(context: Context): Command {
  return new Command("open")
    .description("Show the probes and the device of several events. Audited.")
    .argument("<event-id...>", "as the list shows them", uuids)
    .requiredOption("--case <case-id>", "your open case, which covers all of them", uuid)
    .addOption(breakGlassOption())
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs event open 019a…-… 019b…-… --case 5f0c2b9e-…"))
    .action(async (event_ids: string[], options: OpenOptions) => {
      const input = { event_ids, case_id: options.case };
      const answer = await call(requireBreakGlass(context, options), "openEvents", input);
      if (options.json) return printJson(context, answer);
      printOpened(context, answer);
    });
}

function printOpened(context: Context, { opened, unopened, audit_entry }: Answer<"openEvents">): void {
  const rows = opened.map(({ event, observations }) => {
    const { event_id, received_at, app_version } = event;
    const raw = observations as Readonly<Record<string, unknown>>;
    return { event_id, received_at, ...countsOf(describeProbes(raw)), device: deviceOf(raw), app_version };
  });
  printRows(context, rows, "No event was opened.");
  for (const { event_id, reason } of unopened) print(context, `Not opened: ${event_id}. ${WHY[reason]}`);
  print(context, `Audit entry ${audit_entry}`);
}

const WHY: Readonly<Record<Answer<"openEvents">["unopened"][number]["reason"], string>> = {
  limit: "You have reached the limit of events of 24 hours: another call asks for an approval.",
  "not-found": "There is no such event, or it is restricted.",
  "keys-destroyed": "Its keys were destroyed or lost.",
};

/** The number of probes with each state. */
const countsOf = (probes: readonly ProbeState[]): Readonly<Record<ProbeState["state"], number>> => {
  const count = (state: ProbeState["state"]): number => probes.filter((probe) => probe.state === state).length;
  return {
    observed: count("observed"),
    skipped: count("skipped"),
    timeout: count("timeout"),
    error: count("error"),
    omitted: count("omitted"),
  };
};
