import { Command, InvalidArgumentError, Option } from "commander";
import type { Config } from "../base/config/config.ts";
import { describeBytes } from "../base/messages/bytes.ts";
import { parsePeriod } from "../purposes/period.ts";
import { type Figure, planCapacity } from "../store/capacity/plan.ts";
import { type Context, loadConfig, print, printJson } from "./context.ts";
import { example } from "./options.ts";

const DAY_MS = 86_400_000;
const PEAK = 3;

interface Given {
  readonly eventsPerDay: number;
  /** The retention, in days. */
  readonly retention: number;
  readonly eventKb: number;
  readonly peak: number;
}

export function capacityCommand(context: Context): Command {
  return new Command("capacity")
    .requiredOption("--events-per-day <number>", "events of an average day", numberFrom(1, 1e10))
    .requiredOption("--retention <period>", "raw_retention of the policy, such as P90D", daysOf)
    .requiredOption("--event-kb <number>", "mean size of an event's JSON, in 1000 bytes", numberFrom(0.1, 1e4))
    .addOption(
      new Option("--peak <number>", "the busiest quarter of an hour ÷ the mean")
        .argParser(numberFrom(1, 100))
        .default(PEAK),
    )
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs capacity --events-per-day 1000000 --retention P90D --event-kb 13"))
    .action(({ json, ...given }: Given & { readonly json?: boolean }) => {
      for (const figure of figuresFor(given, loadConfig(context))) {
        if (json) printJson(context, figure);
        else print(context, `${figure.figure}: ${valueOf(figure)} (${figure.how})`);
      }
    });
}

/** The figures with the settings of a configuration. */
export const figuresFor = (
  { eventsPerDay, retention: retentionDays, eventKb, peak = PEAK }: Omit<Given, "peak"> & Partial<Given>,
  { audit, database, retention }: Config,
): readonly Figure[] =>
  planCapacity({
    eventsPerDay,
    eventBytes: eventKb * 1_000,
    retentionDays,
    replayWindowDays: retention.replayWindowMs / DAY_MS,
    auditDays: audit.retentionMs / DAY_MS,
    peak,
    pool: database.pool,
  });

/** The value of a figure, for people. */
export const valueOf = ({ value, unit }: Figure): string => (unit === "bytes" ? describeBytes(value) : String(value));

const numberFrom =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,11}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };

const DAYS_OF_A_MONTH = 365.25 / 12;

function daysOf(text: string): number {
  const period = parsePeriod(text);
  if (!period) throw new InvalidArgumentError("It must be a period such as P90D, P6M or PT12H.");
  return period.months * DAYS_OF_A_MONTH + period.days + period.seconds / 86_400;
}
