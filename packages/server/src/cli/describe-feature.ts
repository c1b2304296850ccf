import { type Answer, type Input, ROUTES } from "@device-risk-signals/admin-api";
import { Command, Option } from "commander";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { describePage, periodOf, shownCount, shownShare } from "./describe-page.ts";
import { featureName } from "./feature-name.ts";
import { example, time, TIMES } from "./options.ts";
import { printRows } from "./table.ts";
import { writePage } from "./write-page.ts";

type Described = Answer<"describeFeature">;
type Grouping = NonNullable<Input<"describeFeature">["by"]>;

const GROUPINGS: readonly Grouping[] = ROUTES.describeFeature.query.properties.by.enum;

interface Options {
  readonly by?: Grouping;
  readonly since?: number;
  readonly until?: number;
  readonly html?: string;
  readonly json?: boolean;
}

/** `drs feature describe`. */
export function describeFeatureCommand(context: Context): Command {
  return new Command("describe")
    .description("Show how often a feature had each state and value, and on which days. Audited.")
    .argument("<feature>", "such as root_traces@1", featureName)
    .addOption(new Option("--by <names>", "a group for each platform and SDK version").choices(GROUPINGS))
    .option("--since <time>", `the first day: ${TIMES}; default: 90 days`, time(context.clock))
    .option("--until <time>", "the day after the last one; default: tomorrow", time(context.clock))
    .option("--html <file>", "write a page with plots, too")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs feature describe root_traces@1 --by platform,sdk_version --since -30d"))
    .action(async (feature: string, { by, since, until, html, json = false }: Options) => {
      const described = await call(context, "describeFeature", {
        feature,
        ...(by !== undefined && { by }),
        ...(since !== undefined && { from: new Date(since).toISOString() }),
        ...(until !== undefined && { to: new Date(until).toISOString() }),
      });
      if (html !== undefined) await writePage(context, html, describePage(described));
      if (json) return printJson(context, described);
      printDescribed(context, described);
    });
}

function printDescribed(context: Context, described: Described): void {
  const { feature, meaning, groups, days, is_limited } = described;
  print(context, `${feature}: ${meaning}`);
  print(context, `${periodOf(described)}; numbers in tens, of 100 or more as shares.`);
  const named = groups.map(({ platform, sdk_version, ...results }) => ({
    ...(platform !== null && { platform }),
    ...(sdk_version !== null && { sdk_version }),
    ...rowOf(results),
  }));
  printRows(context, named, "No group of 10 events or more.");
  if (is_limited) print(context, "There are more groups.");
  printRows(
    context,
    days.map(({ day, ...results }) => ({ day, ...rowOf(results) })),
    "No days.",
  );
}

/** The shares, or numbers, as columns. Those of values are named like `observed true`. */
function rowOf({ events, states, values }: Omit<Described["days"][number], "day">): object {
  const columns = [
    ...states.map((state) => [state.name, shownShare(state)]),
    ...values.map((value) => [`observed ${value.name}`, shownShare(value)]),
  ];
  return { events: shownCount(events), ...Object.fromEntries(columns) };
}
