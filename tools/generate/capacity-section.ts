/** Writes the section of `docs/scaling.md` that has the sizes for some rates. */
import { readConfig } from "../../packages/server/src/base/config/config.ts";
import { figuresFor, valueOf } from "../../packages/server/src/cli/capacity.ts";
import { withSection } from "./section.ts";
import { table } from "./table.ts";

const MILLIONS = [1, 10, 50];

export const withCapacitySection = (page: string): string =>
  withSection(page, "packages/server/src/store/capacity/measured.ts", sizes());

function sizes(): string {
  const defaults = readConfig({}, "/");
  if (!defaults.ok) throw new Error(defaults.problems.join("\n"));
  const plans = MILLIONS.map((millions) =>
    figuresFor({ eventsPerDay: millions * 1e6, retention: 90, eventKb: 13 }, defaults.config),
  );
  const rows = (plans[0] ?? []).map(({ figure }, row) => [figure, ...plans.map((plan) => cellOf(plan[row]))]);
  const cells = [["figure", ...MILLIONS.map((millions) => `${millions} million`)], ...rows];
  // The page is formatted, so that the columns of its tables have the width of their longest cell.
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const padded = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  const [head = [], ...body] = padded;
  return table(head, body).replace(/^\|(?: --- \|)+$/m, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
}

const cellOf = (figure: Parameters<typeof valueOf>[0] | undefined): string => (figure ? valueOf(figure) : "");
