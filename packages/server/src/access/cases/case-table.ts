/**
 * Cases: the reasons for which people open events. A case covers an account, an action of an account or an event, for 8
 * hours.
 */
import { randomUUID } from "node:crypto";
import type { CATEGORIES } from "@device-risk-signals/admin-api";
import type { Clock } from "../../base/ports.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { query, sql } from "../../store/postgres/statement.ts";

export type CaseCategory = (typeof CATEGORIES)[number];

/** What a case covers. */
export type CaseSubject =
  | { readonly scope: "account"; readonly account: string }
  | { readonly scope: "action"; readonly account: string; readonly actionId: string }
  | {
      readonly scope: "event";
      readonly eventId: string;
      /** The account of the event, if the event exists. */
      readonly account: string | undefined;
    };

/** The time for which a case is valid: 8 hours. */
const VALID_MS = 8 * 3_600_000;

export interface WantedCase {
  readonly person: string;
  readonly category: CaseCategory;
  readonly ticket: string | undefined;
  readonly reason: string;
  readonly covers: CaseSubject;
}

export interface CaseRow {
  readonly case_id: string;
  readonly category: CaseCategory;
  readonly ticket: string | null;
  readonly reason: string;
  readonly scope: CaseSubject["scope"];
  /** The account, action id or event id. */
  readonly subject: string;
  /** The account of the subject; `null` if the case covers an event that does not exist. */
  readonly account: string | null;
  readonly opened_by: string;
  readonly opened_at: string;
  readonly expires_at: string;
  readonly closed_at: string | null;
  readonly events_opened: number;
}

const CASE_COLUMNS = `case_id, category, ticket, reason, scope, coalesce(action_id, event_id::text, account) as subject, account,
  opened_by,
  ${instant("opened_at")}, ${instant("expires_at")}, ${instant("closed_at")}, events_opened`;
/** Lets a statement that changes one case return it. */
const returning = (change: string): string =>
  `with changed as (${change} returning *) select ${CASE_COLUMNS} from changed`;

const CASE_TYPES = {
  case_id: "uuid",
  category: "text",
  ticket: "text?",
  reason: "text",
  scope: "text",
  subject: "text",
  account: "text?",
  opened_by: "text",
  opened_at: "text",
  expires_at: "text",
  closed_at: "text?",
  events_opened: "int8",
} as const;

const INSERT_CASE = sql(
  returning(`insert into access_case (case_id, category, ticket, reason, scope, account, action_id, event_id, opened_by,
      opened_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`),
  ["uuid", "text", "text?", "text", "text", "text?", "text?", "uuid?", "text", "timestamptz", "timestamptz"],
  CASE_TYPES,
);

export async function openCase(executor: Executor, clock: Clock, wanted: WantedCase): Promise<CaseRow> {
  const { person, category, ticket, reason, covers } = wanted;
  const now = clock.now();
  const { rows } = await query(executor, INSERT_CASE, [
    randomUUID(),
    category,
    ticket ?? null,
    reason,
    covers.scope,
    covers.account ?? null,
    covers.scope === "action" ? covers.actionId : null,
    covers.scope === "event" ? covers.eventId : null,
    person,
    new Date(now).toISOString(),
    new Date(now + VALID_MS).toISOString(),
  ]);
  return rows[0] as CaseRow;
}

const LIST_CASES = sql(
  `select ${CASE_COLUMNS} from access_case
    where ($1::text is null or opened_by = $1)
      and ($2::boolean is null or $2 = (closed_at is null and expires_at > $3))
      and ${isAfter("access_case.opened_at", "$4", { case_id: "$5::uuid" })}
    order by access_case.opened_at desc, case_id limit $6::int4`,
  ["text?", "bool?", "timestamptz", "timestamptz?", "uuid?", "int4"],
  CASE_TYPES,
);

export interface CaseFilter {
  readonly person: string | undefined;
  readonly isOpen: boolean | undefined;
}

/** Lists cases, newest first. */
export async function listCases(
  executor: Executor,
  clock: Clock,
  { person, isOpen }: CaseFilter,
  page: KeysetPage = FIRST_PAGE,
): Promise<readonly CaseRow[]> {
  const now = new Date(clock.now()).toISOString();
  const [at = null, id = null] = positionValues(page, 1);
  const values = [person ?? null, isOpen ?? null, now, at, id, page.limit] as const;
  return (await query(executor, LIST_CASES, values)).rows as CaseRow[];
}

/** The cases that a review covers: opened since a time, by one person or by all people. */
export interface ReviewedCases {
  /** The start of the review, in RFC 3339. */
  readonly since: string;
  readonly person: string | undefined;
  readonly limit: number;
}

export interface RepeatedReason {
  readonly person: string;
  readonly reason: string;
  readonly cases: number;
}

const LIST_REPEATED = sql(
  `select opened_by as person, reason, count(*) as cases from access_case
    where opened_at >= $1 and ($2::text is null or opened_by = $2)
    group by opened_by, reason having count(*) > 1 order by cases desc, 1, 2 limit $3::int4`,
  ["timestamptz", "text?", "int4"],
  { person: "text", reason: "text", cases: "int8" },
);

/** Lists reasons that the same person gave for several cases. */
export async function listRepeatedReasons(
  executor: Executor,
  { since, person, limit }: ReviewedCases,
): Promise<readonly RepeatedReason[]> {
  return (await query(executor, LIST_REPEATED, [since, person ?? null, limit])).rows;
}

export interface UnusedCase {
  readonly case_id: string;
  readonly person: string;
  readonly category: string;
  readonly ticket: string | null;
  readonly opened_at: string;
}

const LIST_UNUSED = sql(
  `select case_id, opened_by as person, category, ticket, ${instant("opened_at")} from access_case
    where access_case.opened_at >= $1 and ($2::text is null or opened_by = $2) and events_opened = 0
    order by access_case.opened_at, case_id limit $3::int4`,
  ["timestamptz", "text?", "int4"],
  { case_id: "uuid", person: "text", category: "text", ticket: "text?", opened_at: "text" },
);

/** Lists cases with which no event was opened, oldest first. */
export async function listUnusedCases(
  executor: Executor,
  { since, person, limit }: ReviewedCases,
): Promise<readonly UnusedCase[]> {
  return (await query(executor, LIST_UNUSED, [since, person ?? null, limit])).rows;
}

const CLOSE_CASE = sql(
  returning("update access_case set closed_at = $3 where case_id = $1 and opened_by = $2 and closed_at is null"),
  ["uuid", "text", "timestamptz"],
  CASE_TYPES,
);

/** @returns `undefined` if the person has no case with this id, or has closed it before. */
export async function closeCase(
  executor: Executor,
  clock: Clock,
  caseId: string,
  person: string,
): Promise<CaseRow | undefined> {
  const { rows } = await query(executor, CLOSE_CASE, [caseId, person, new Date(clock.now()).toISOString()]);
  return rows[0] as CaseRow | undefined;
}

/**
 * The condition that a case is valid. A login of the database can insert a case whose `opened_at` is in the future;
 * such a case is not valid yet. A difference of a minute is tolerated, because the clocks of processes may differ.
 * @param now the placeholder of the current time.
 */
const isValidAt = (now: string): string =>
  `closed_at is null and expires_at > ${now} and access_case.opened_at <= ${now}::timestamptz + interval '1 minute'`;

const FIND_OPEN_CASE = sql(
  `select ${CASE_COLUMNS} from access_case where case_id = $1
      -- guard(true): only the person who opened a case uses it
      and opened_by = $2
      -- guard(true): a closed or expired case shows nothing
      and ${isValidAt("$3")}`,
  ["uuid", "text", "timestamptz"],
  CASE_TYPES,
);

/** @returns `undefined` if no open case of the person has the id. */
export async function findOpenCase(
  executor: Executor,
  clock: Clock,
  caseId: string,
  person: string,
): Promise<CaseRow | undefined> {
  const { rows } = await query(executor, FIND_OPEN_CASE, [caseId, person, new Date(clock.now()).toISOString()]);
  return rows[0] as CaseRow | undefined;
}

const COUNT_OPENED = sql("update access_case set events_opened = events_opened + $2 where case_id = $1", [
  "uuid",
  "int8",
]);

/** Adds `events` to the number of events that were opened with the case. */
export async function addOpenedEvents(executor: Executor, caseId: string, events: number): Promise<void> {
  await query(executor, COUNT_OPENED, [caseId, events]);
}

const DELETE_OF_ACCOUNT = sql("delete from access_case where account = $1", ["text"]);

/** Deletes the cases of an erased account, because their reasons and subjects are in the clear. */
export async function deleteCases(executor: OwnerTransaction, account: string): Promise<void> {
  await query(executor, DELETE_OF_ACCOUNT, [account]);
}

export interface CoveredEvent {
  readonly account: string;
  readonly actionId: string;
  readonly eventId: string;
}

/** Whether the case covers an event. */
export function isCovered({ scope, subject, account }: CaseRow, event: CoveredEvent): boolean {
  if (scope === "event") return subject === event.eventId;
  return account === event.account && (scope === "account" || subject === event.actionId);
}
