/** `drs event get` and `drs event list` on the database. Each command writes one audit entry. */
import type { Event } from "@device-risk-signals/admin-api";
import { openEvent } from "../operations/open-event.ts";
import type { Installation } from "../runtime/open-installation.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { releasingLocks } from "../store/events/partition-slices.ts";
import {
  type EventFilter,
  findEvent,
  type FoundEvent,
  type ListedEvent,
  listEvents,
} from "../store/events/read-events.ts";
import { readPurposeIds } from "../purposes/policy-table.ts";
import type { StoredEvent } from "../base/ports.ts";
import { inSnapshot } from "../store/postgres/database.ts";
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { signBreakGlassCheckpoint } from "./break-glass.ts";
import { type AuditedRead, auditRead, withJournalApplied } from "./audit-read.ts";
import { type Context, writeExact } from "./context.ts";

/** The number of rows that one query of a long listing fetches. */
const PAGE_SIZE = 1_000;

export interface Reading {
  readonly raw?: boolean;
  readonly includeRestricted?: boolean;
  readonly reason?: string;
}

/** Called after the audit entry is durable. */
export type ShowEvent = (event: Event) => void;

/** Shows an event, or writes its exact bytes. */
export function getOnDatabase(context: Context, eventId: string, options: Reading, show: ShowEvent): Promise<void> {
  return withJournalApplied(context, async (installation) => {
    const { includeRestricted = false, reason, raw } = options;
    const event = await findEvent(installation.pool, eventId, { includeRestricted });
    const read = {
      operation: raw ? "event.read_raw" : "event.read",
      eventId,
      reason,
      ...(includeRestricted && { detail: { include_restricted: true, restricted: event?.restricted } }),
    };
    const auditAs = async (outcome: Pick<AuditedRead, "outcome" | "account">): Promise<void> => {
      await auditRead(context, installation, { ...read, ...outcome });
      await signBreakGlassCheckpoint(context, async () => installation);
    };
    if (!event) {
      await auditAs({ outcome: "not-found" });
      throw noEvent(eventId, includeRestricted);
    }
    const audit = (): Promise<void> => auditAs({ outcome: "done", account: event.account });
    if (options.raw) await writeRaw(context, installation, event, audit);
    else await showAttributes(installation, event, audit, show);
  });
}

/** The answer for a restricted event is the same as for an event that does not exist. */
const noEvent = (eventId: string, includeRestricted: boolean): OperatorError =>
  new OperatorError(
    "not-found",
    `There is no event ${eventId}${includeRestricted ? "." : ", or it is restricted: see --include-restricted."}`,
  );

/** @param audit writes the audit entry, which is durable before the first byte is written. */
async function writeRaw(
  context: Context,
  installation: Installation,
  event: StoredEvent,
  audit: () => Promise<void>,
): Promise<void> {
  const exact = await openEvent(installation, installation.pool, event);
  await audit();
  await writeExact(context, exact);
}

async function showAttributes(
  { pool }: Installation,
  event: FoundEvent,
  audit: () => Promise<void>,
  show: ShowEvent,
): Promise<void> {
  const purposes = await readPurposeIds(pool);
  await audit();
  show({
    event_id: event.eventId,
    idempotency_key: event.idempotencyKey,
    account: event.account,
    action_id: event.actionId,
    action_type: event.actionType,
    purpose: purposes.get(event.purpose) ?? String(event.purpose),
    session_id: event.sessionId,
    event_type: event.eventType,
    schema_version: event.schemaVersion,
    sdk_version: event.sdkVersion,
    platform: event.platform,
    app_version: event.appVersion,
    collected_at: event.collectedAt,
    received_at: new Date(event.receivedAt).toISOString(),
    held: event.held,
    restricted: event.restricted,
  });
}

export interface Listing {
  readonly account?: string;
  readonly action?: string;
  readonly actionType?: string;
  readonly sdkVersion?: string;
  readonly includeRestricted?: boolean;
  readonly reason?: string;
  /** Maximum number of rows; 0 = no limit. */
  readonly limit: number;
  readonly after?: string;
}

/** Called with each page. */
export type ReceivePage = (page: readonly Event[]) => void;

/**
 * Lists events on the database. The audit entry is durable before the first row is printed. The entry has the number of
 * rows, which are counted and read in one snapshot.
 */
export function listOnDatabase(context: Context, options: Listing, take: ReceivePage): Promise<void> {
  return withJournalApplied(context, (installation) =>
    inSnapshot(installation.database, (snapshot) => listSnapshot(context, installation, snapshot, options, take)),
  );
}

async function listSnapshot(
  context: Context,
  installation: Installation,
  snapshot: Transaction,
  options: Listing,
  take: ReceivePage,
): Promise<void> {
  const reading = releasingLocks(snapshot);
  const limit = options.limit === 0 ? Number.POSITIVE_INFINITY : options.limit;
  const filter = filterOf(options);
  const purposes = await readPurposeIds(reading);
  const first = await listEvents(reading, filter, Math.min(PAGE_SIZE, limit), options.after);
  const lastId = first.length === PAGE_SIZE ? first.at(-1)?.event_id : undefined;
  let countAfterFirst = 0;
  for await (const page of pagesAfter(reading, filter, limit - first.length, lastId)) countAfterFirst += page.length;
  await auditRead(context, installation, {
    operation: "event.list",
    outcome: "done",
    account: options.account,
    reason: options.reason,
    detail: { filter: shownFilter(options), limit: options.limit, count: first.length + countAfterFirst },
  });
  const named = (page: readonly ListedEvent[]): readonly Event[] =>
    page.map((row) => ({ ...row, purpose: purposes.get(row.purpose) ?? String(row.purpose) }));
  take(named(first));
  for await (const page of pagesAfter(reading, filter, countAfterFirst, lastId)) {
    if (context.stdout.destroyed) break;
    take(named(page));
  }
}

const filterOf = ({ account, action, actionType, sdkVersion, includeRestricted = false }: Listing): EventFilter => ({
  includeRestricted,
  ...(account !== undefined && { account }),
  ...(action !== undefined && { actionId: action }),
  ...(actionType !== undefined && { actionType }),
  ...(sdkVersion !== undefined && { sdkVersion }),
});

/**
 * Yields pages of the events after the event `start`: at most `limit` events in total, and nothing if `start` is
 * undefined.
 */
async function* pagesAfter(
  executor: Executor,
  filter: EventFilter,
  limit: number,
  start: string | undefined,
): AsyncGenerator<readonly ListedEvent[]> {
  let [left, after] = [limit, start];
  while (left > 0 && after !== undefined) {
    const wanted = Math.min(PAGE_SIZE, left);
    const page = await listEvents(executor, filter, wanted, after);
    if (page.length > 0) yield page;
    left -= page.length;
    after = page.length < wanted ? undefined : page.at(-1)?.event_id;
  }
}

/** The filter for the audit entry, without the account, for which the entry has a separate column. */
function shownFilter({ action, actionType, sdkVersion, after, includeRestricted }: Listing): object {
  const filter = {
    action_id: action,
    action_type: actionType,
    sdk_version: sdkVersion,
    after,
    include_restricted: includeRestricted,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
