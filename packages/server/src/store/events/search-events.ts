import type { Executor } from "../postgres/executor.ts";
import {
  findPartitions,
  inLedgerOf,
  type Partition,
  partitionQuery,
  type PartitionQuery,
  queryPartitions,
} from "./partition-slices.ts";
import { receivedAtOf } from "./read-events.ts";
import {
  type Columns,
  type ParameterType,
  queryComposed,
  type RowOf,
  sql,
  type Statement,
  type ValuesOf,
} from "../postgres/statement.ts";

/** The events that an order, such as an erasure or a hold, is about. */
export type EventSubject =
  | { readonly kind: "account"; readonly account: string }
  /** Events of an account under one purpose, by the purpose's code. */
  | { readonly kind: "purpose"; readonly account: string; readonly purpose: number }
  | { readonly kind: "action"; readonly actionId: string }
  | { readonly kind: "event"; readonly eventId: string };

type SubjectKind = EventSubject["kind"];

/** Conditions on a table of events. */
export const SUBJECT_CONDITIONS = {
  account: { where: "account = $1", parameters: ["text"] },
  purpose: { where: "account = $1 and purpose = $2", parameters: ["text", "int4"] },
  action: { where: "action_id = $1", parameters: ["text"] },
  event: { where: "event_id = $1 and received_at = $2", parameters: ["uuid", "timestamptz"] },
} as const satisfies Readonly<
  Record<SubjectKind, { readonly where: string; readonly parameters: readonly ParameterType[] }>
>;

/** Returns the values of the parameters `$1` and so on in the condition on a subject. */
export function subjectValues(subject: EventSubject): readonly unknown[] {
  switch (subject.kind) {
    case "account":
      return [subject.account];
    case "purpose":
      return [subject.account, subject.purpose];
    case "action":
      return [subject.actionId];
    case "event":
      return [subject.eventId, receivedAtOf(subject.eventId).toISOString()];
  }
}

/** Builds a value for each kind of subject. */
export const forSubjects = <T>(
  make: (where: string, parameters: readonly ParameterType[], kind: SubjectKind) => T,
): Readonly<Record<SubjectKind, T>> => {
  const of = (kind: SubjectKind): T => make(SUBJECT_CONDITIONS[kind].where, SUBJECT_CONDITIONS[kind].parameters, kind);
  return { account: of("account"), purpose: of("purpose"), action: of("action"), event: of("event") };
};

/** The partitions that may contain events of a subject. */
function partitionsOf(executor: Executor, subject: EventSubject): Promise<readonly Partition[]> {
  switch (subject.kind) {
    case "account":
    case "purpose":
      return findPartitions(executor, subject);
    case "action":
      return findPartitions(executor);
    case "event": {
      const at = receivedAtOf(subject.eventId).getTime();
      return findPartitions(executor, { from: at, to: at });
    }
  }
}

/**
 * `kept_event` has all events, including erased and expired ones. `live_event` has events that may be read.
 * `unrestricted_event` has those of them that may be analysed.
 */
type SearchableView = "kept_event" | "live_event" | "unrestricted_event";

interface SearchText {
  readonly view: SearchableView;
  /** The query that runs on each partition, and on the copies that holds keep. */
  readonly select: string;
  readonly where: string;
  readonly groupBy?: string;
  /** The placeholder of the account whose events `where` names. */
  readonly account?: string;
}

/** A query on each partition and on the copies that holds keep. */
export interface EventSearch<Values extends readonly unknown[], Row> {
  readonly inPartitions: PartitionQuery<Values, Row>;
  readonly ofCopies: Statement<Values, Row>;
}

/** Declares a search, at the top level of a module. */
export function eventSearch<const Parameters extends readonly ParameterType[], const Of extends Columns>(
  { view, select, where, groupBy, account }: SearchText,
  parameters: Parameters,
  columns: Of,
): EventSearch<ValuesOf<Parameters>, RowOf<Of>> {
  const rest = groupBy === undefined ? "" : ` group by ${groupBy}`;
  const text = (part: string): string => `select ${select} from ${view} where ${part} and ${where}${rest}`;
  return {
    inPartitions: partitionQuery(parameters, columns, (within) => {
      const part = within(view, "view");
      return text(account === undefined ? part : `${part} and ${inLedgerOf(account, within, view)}`);
    }),
    ofCopies: sql(text("partition_purpose = -1"), parameters, columns),
  };
}

/** Runs a search. If its rows are aggregates of slices, the caller must add them up. */
export async function* searchEvents<Values extends readonly unknown[], Row>(
  executor: Executor,
  { inPartitions, ofCopies }: EventSearch<Values, Row>,
  partitions: readonly Partition[],
  values: Values,
): AsyncGenerator<Row & object> {
  yield* queryPartitions(executor, inPartitions, partitions, values);
  yield* (await queryComposed(executor, { ...ofCopies, values: [...values] })).rows;
}

/** A search for each kind of subject. */
export type SubjectSearch<Row> = Readonly<Record<SubjectKind, EventSearch<readonly unknown[], Row>>>;

/** Declares a search for all events of a subject, at the top level of a module. */
export const subjectSearch = <const Of extends Columns>(
  search: Omit<SearchText, "where"> & { readonly where?: string },
  columns: Of,
): SubjectSearch<RowOf<Of>> =>
  forSubjects((where, parameters, kind) => {
    const conditions = search.where === undefined ? where : `${where} and ${search.where}`;
    const ofAccount = kind === "account" || kind === "purpose" ? { account: "$1" } : {};
    return eventSearch({ ...search, ...ofAccount, where: conditions }, parameters, columns);
  });

/** Runs a search for the events of a subject. If its rows are aggregates of slices, the caller must add them up. */
export async function* searchEventsOf<Row>(
  executor: Executor,
  search: SubjectSearch<Row>,
  subject: EventSubject,
): AsyncGenerator<Row & object> {
  yield* searchEvents(executor, search[subject.kind], await partitionsOf(executor, subject), subjectValues(subject));
}

/**
 * A condition that leaves out events whose account key is erased. It leaves out no copy: copies are sealed under a
 * hold's secret.
 */
export const NOT_ERASED = "(hold_id is not null or not is_account_key_erased(key_id))";

const COUNT_STORED = subjectSearch(
  { view: "kept_event", select: "count(*) as events", where: NOT_ERASED },
  { events: "int8" },
);
const COUNT_LIVE = subjectSearch({ view: "live_event", select: "count(*) as events" }, { events: "int8" });

const COUNT_UNRESTRICTED = subjectSearch(
  { view: "unrestricted_event", select: "count(*) as events" },
  { events: "int8" },
);

/**
 * The number of a subject's events that are not erased, including expired ones that are not deleted yet, and of the
 * copies that holds keep of erased ones.
 */
export async function countStored(executor: Executor, subject: EventSubject): Promise<number> {
  return sumOfCounts(searchEventsOf(executor, COUNT_STORED, subject));
}

export async function countLive(executor: Executor, subject: EventSubject): Promise<number> {
  return sumOfCounts(searchEventsOf(executor, COUNT_LIVE, subject));
}

/** The number of a subject's events that may be analysed. */
export async function countUnrestricted(executor: Executor, subject: EventSubject): Promise<number> {
  return sumOfCounts(searchEventsOf(executor, COUNT_UNRESTRICTED, subject));
}

async function sumOfCounts(counts: AsyncGenerator<{ events: number }>): Promise<number> {
  let total = 0;
  for await (const { events } of counts) total += events;
  return total;
}

export interface EventCountsByHoldState {
  /** Events that are not erased and that no hold covers. */
  readonly events: number;
  /** Events that are not erased and that a hold covers. */
  readonly held: number;
  /** Copies of erased events that a hold keeps. */
  readonly still_held: number;
  /** Copies of erased events whose hold has ended. The next retention pass deletes them. */
  readonly released: number;
}

const COUNT_BY_HOLD_STATE = subjectSearch(
  {
    view: "kept_event",
    select: "erased_by is not null as erased, is_held(account, action_id, event_id) as covered, count(*) as events",
    where: NOT_ERASED,
    groupBy: "1, 2",
  },
  { erased: "bool", covered: "bool", events: "int8" },
);

export async function countByHoldState(executor: Executor, subject: EventSubject): Promise<EventCountsByHoldState> {
  const counts = { events: 0, held: 0, still_held: 0, released: 0 };
  for await (const row of searchEventsOf(executor, COUNT_BY_HOLD_STATE, subject)) {
    const kind = row.erased ? (row.covered ? "still_held" : "released") : row.covered ? "held" : "events";
    counts[kind] += row.events;
  }
  return counts;
}
