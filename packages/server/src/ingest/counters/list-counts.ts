/**
 * Lists counts in pages: the newest hour first, and the rows of one hour in the order of their other columns. `null`
 * means that the value is unknown or absent.
 */
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { composed, narrowed, queryComposed } from "../../store/postgres/statement.ts";
import type { OutcomeState } from "./outcomes.ts";

/** Milliseconds since the Unix epoch. */
export interface TimeRange {
  /** The first hour of the range is the one that contains this time. */
  readonly from?: number;
  /** The hours of the range begin before this time. */
  readonly to?: number;
}

export interface OutcomeFilter extends TimeRange {
  readonly platform?: string;
  readonly sdkVersion?: string;
  readonly probe?: string;
}

export interface OutcomeRow {
  readonly hour: string;
  readonly platform: string;
  readonly sdk_version: string;
  readonly os_major: string | null;
  readonly probe: string;
  readonly state: OutcomeState;
  readonly reason: string | null;
  readonly occurrences: number;
}

export interface RejectionFilter extends TimeRange {
  readonly problem?: string;
  readonly sdkVersion?: string;
}

export interface RejectionRow {
  readonly hour: string;
  readonly problem: string;
  readonly violation: string | null;
  readonly place: string | null;
  readonly sdk_version: string | null;
  readonly occurrences: number;
}

/** A page of the rows that follow `after`, the last row of the previous page. */
export interface PageOf<Row> {
  readonly limit: number;
  readonly after?: Row;
}

interface Listed<Row> {
  readonly table: string;
  /** Columns that follow the hour in the primary key. An empty text in them is shown as null. */
  readonly names: readonly (keyof Row & string)[];
  readonly range: TimeRange;
  /** Values that rows must have, by column. `undefined` allows any value. */
  readonly equal: Readonly<Partial<Record<keyof Row, string | undefined>>>;
  readonly page: PageOf<Row>;
}

function composePage<Row extends { readonly hour: string }>({
  table,
  names,
  range,
  equal,
  page,
}: Listed<Row>): {
  text: string;
  values: unknown[];
} {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (range.from !== undefined) {
    conditions.push(`hour >= date_trunc('hour', ${bind(new Date(range.from).toISOString())}::timestamptz)`);
  }
  if (range.to !== undefined) conditions.push(`hour < ${bind(new Date(range.to).toISOString())}`);
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) conditions.push(`${column} = ${bind(value)}`);
  }
  const { after } = page;
  if (after) {
    const hour = bind(after.hour);
    const last = names.map((name) => bind(after[name] ?? "")).join(", ");
    conditions.push(`hour <= ${hour} and (hour < ${hour} or (${names.join(", ")}) > (${last}))`);
  }
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
  const columns = names.map((name) => `nullif(${name}, '') as ${name}`).join(", ");
  // Orders by the column `c.hour`, and not by the selected text of the same name, so that the primary key gives the
  // order.
  const text = `select ${instant("c.hour", "hour")}, ${columns}, occurrences from ${table} c ${where}
    order by c.hour desc, ${names.map((name) => `c.${name}`).join(", ")} limit ${bind(page.limit)}`;
  return { text, values };
}

const outcomesQuery = composed(
  ({ from, to, platform, sdkVersion, probe }: OutcomeFilter, page: PageOf<OutcomeRow>) =>
    composePage<OutcomeRow>({
      table: "probe_outcome",
      names: ["platform", "sdk_version", "os_major", "probe", "state", "reason"],
      range: { ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
      equal: { platform, sdk_version: sdkVersion, probe },
      page,
    }),
  {
    hour: "text",
    platform: "text",
    sdk_version: "text",
    os_major: "text?",
    probe: "text",
    state: narrowed<OutcomeState>("text"),
    reason: "text?",
    occurrences: "int8",
  },
  [
    [{}, { limit: 1 }],
    [{ from: 0, to: 1, platform: "", sdkVersion: "", probe: "" }, { limit: 1 }],
    [
      {},
      {
        limit: 1,
        after: {
          hour: "2026-01-01T00:00:00Z",
          platform: "",
          sdk_version: "",
          os_major: null,
          probe: "",
          state: "success",
          reason: null,
          occurrences: 0,
        },
      },
    ],
  ],
);

/** Lists how many events had each outcome of a probe. */
export async function listOutcomes(
  executor: Executor,
  filter: OutcomeFilter,
  page: PageOf<OutcomeRow>,
): Promise<readonly OutcomeRow[]> {
  return (await queryComposed(executor, outcomesQuery(filter, page))).rows;
}

const rejectionsQuery = composed(
  ({ from, to, problem, sdkVersion }: RejectionFilter, page: PageOf<RejectionRow>) =>
    composePage<RejectionRow>({
      table: "rejection",
      names: ["problem", "violation", "place", "sdk_version"],
      range: { ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
      equal: { problem, sdk_version: sdkVersion },
      page,
    }),
  {
    hour: "text",
    problem: "text",
    violation: "text?",
    place: "text?",
    sdk_version: "text?",
    occurrences: "int8",
  },
  [
    [{}, { limit: 1 }],
    [{ from: 0, to: 1, problem: "", sdkVersion: "" }, { limit: 1 }],
    [
      {},
      {
        limit: 1,
        after: {
          hour: "2026-01-01T00:00:00Z",
          problem: "",
          violation: null,
          place: null,
          sdk_version: null,
          occurrences: 0,
        },
      },
    ],
  ],
);

/** Lists numbers of rejected requests. A request with several violations counts once in the row of each violation. */
export async function listRejections(
  executor: Executor,
  filter: RejectionFilter,
  page: PageOf<RejectionRow>,
): Promise<readonly RejectionRow[]> {
  return (await queryComposed(executor, rejectionsQuery(filter, page))).rows;
}
