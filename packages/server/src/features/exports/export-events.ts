/** Exports of raw events for investigations: the exact bytes of many events. */
import { createHash, randomUUID } from "node:crypto";
import type { EventExportManifest } from "@device-risk-signals/admin-api";
import type pg from "pg";
import type { AuditSigner } from "../../audit/audit-signer.ts";
import { writeAudit } from "../../audit/audit.ts";
import { addOpenedEvents, type CaseRow, findOpenCase, isCovered } from "../../access/cases/case-table.ts";
import { openIfReadable } from "../../store/crypto/open-if-readable.ts";
import type { Pseudonymizer } from "../../store/crypto/pseudonymizer.ts";
import { plural } from "../../base/messages/plural.ts";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { type EventFilter, listEvents } from "../../store/events/list-events.ts";
import { findAttributes, findEvent, type ListedEvent, readEvents } from "../../store/events/read-events.ts";
import { readPurposeIds } from "../../purposes/policy-table.ts";
import type { Clock, Sealer, StoredEvent } from "../../base/ports.ts";
import { inOwnerTransaction, inTransaction, type OwnerDatabase, streamOwner } from "../../store/postgres/database.ts";
import type { Executor, OwnerConnection } from "../../store/postgres/executor.ts";
import { type ExportPart, MeasuredBytes } from "./export-parts.ts";
import { subjectsOf } from "./export-subjects.ts";
import { finishExport, insertExport, insertSubjects, type Recipient } from "./export-table.ts";
import { type ExportAgent, type OnRecord, requireExport } from "./run-export.ts";
import { SeenLines } from "./seen-lines.ts";

/** Number of events whose bytes are in memory at the same time, and whose audit entries one transaction writes. */
const PAGE_SIZE = 50;
/** Number of events that are counted at a time. */
const COUNT_PAGE_SIZE = 1_000;

/** The events to export. Restricted events are never selected. */
export type EventSelection =
  | { readonly eventIds: readonly string[] }
  | { readonly filter: Pick<EventFilter, "account" | "actionId" | "actionType" | "from"> & { readonly to: number } };

/** The numbers that an approver sees. */
export interface SelectedEvents {
  readonly events: number;
  readonly accounts: number;
  readonly held: number;
  /** Events that the case does not cover. */
  readonly beyond_case: number;
}

export async function countSelected(
  executor: Executor,
  selection: EventSelection,
  of: CaseRow,
): Promise<SelectedEvents> {
  const accounts = new SeenLines();
  const counts = { events: 0, accounts: 0, held: 0, beyond_case: 0 };
  for await (const page of pagesOf(executor, selection, COUNT_PAGE_SIZE)) {
    for (const event of page) {
      counts.events++;
      if (accounts.see(event.account, 1) === undefined) counts.accounts++;
      if (event.held) counts.held++;
      const { account, action_id: actionId, event_id: eventId } = event;
      if (!isCovered(of, { account, actionId, eventId })) counts.beyond_case++;
    }
  }
  return counts;
}

async function* pagesOf(
  executor: Executor,
  selection: EventSelection,
  size: number,
): AsyncGenerator<readonly ListedEvent[]> {
  if ("eventIds" in selection) {
    const ids = [...new Set(selection.eventIds)];
    for (let first = 0; first < ids.length; first += size) {
      const found: ListedEvent[] = [];
      for (const id of ids.slice(first, first + size)) {
        const event = await findAttributes(executor, id);
        if (event) found.push(event);
      }
      yield found;
    }
    return;
  }
  for (let after: string | undefined; ;) {
    const page = await listEvents(executor, selection.filter, size, after);
    yield page;
    after = page.at(-1)?.event_id;
    if (page.length < size) return;
  }
}

export interface EventExportPorts {
  readonly pool: pg.Pool;
  readonly administration: OwnerDatabase;
  readonly audit: AuditSigner;
  readonly sealer: Sealer;
  readonly pseudonymizer: Pseudonymizer;
  readonly clock: Clock;
  /** @param events number of events that have been processed. */
  readonly onProgress: (events: number) => void;
}

export interface EventExportOrder extends Recipient {
  readonly selection: EventSelection;
  /** The selection, for the audit. */
  readonly detail: Readonly<Record<string, unknown>>;
  readonly account: string | undefined;
  /** The number of events that were counted and, if the export needs an approval, approved. */
  readonly events: number;
  /** An open case of the person. */
  readonly case: CaseRow;
  readonly agent: ExportAgent;
}

/** Begins an export. Its record and its audit entry exist when the promise resolves. @returns the parts of the file. */
export async function beginEventExport(
  ports: EventExportPorts,
  order: EventExportOrder,
  onRecord: OnRecord,
): Promise<AsyncIterable<ExportPart<EventExportManifest>>> {
  const { administration, audit, pool } = ports;
  const { recipient, expiresOn, agent, account } = order;
  const exportId = randomUUID();
  await inOwnerTransaction(administration, async (owner) => {
    await onRecord(owner);
    await insertExport(owner, exportId, { recipient, expiresOn, actor: agent.actor, caseId: order.case.case_id });
    const entry = { ...entryOf(order, exportId), operation: "export.raw", detail: { ...order.detail, recipient } };
    await writeAudit(owner, audit, { ...entry, ...(account !== undefined && { account }) });
  });
  const { watermark } = await requireExport(pool, exportId);
  return streamOwner(administration, (owner) => partsOf(ports, owner, order, { exportId, watermark }));
}

function entryOf({ agent, case: { case_id, category, ticket, reason } }: EventExportOrder, exportId: string) {
  const why = { category, reason, caseId: case_id, ...(ticket !== null && { ticket }) };
  return { ...agent, ...why, outcome: "done", references: { export_id: exportId } };
}

interface Recorded {
  readonly exportId: string;
  readonly watermark: string;
}

async function* partsOf(
  ports: EventExportPorts,
  owner: OwnerConnection,
  order: EventExportOrder,
  { exportId, watermark }: Recorded,
): AsyncGenerator<ExportPart<EventExportManifest>> {
  const { pool, pseudonymizer, onProgress } = ports;
  const purposes = await readPurposeIds(pool);
  const file = new MeasuredBytes();
  let [row, unreadable, held, processed] = [0, 0, 0, 0];
  for await (const page of pagesOf(pool, order.selection, PAGE_SIZE)) {
    // guard: no byte of an event beyond the approved number is read
    if (processed + page.length > order.events) throw moreThanCounted(order.events);
    const released = await release(ports, order, exportId, page);
    const subjects = released.flatMap(({ event }, index) => {
      const { account, purpose, action_id: actionId, event_id: eventId } = event;
      return subjectsOf(pseudonymizer, row + index + 1, { account, purpose, actionId, eventId });
    });
    // guard(drop): an erasure finds whose bytes were handed out
    await insertSubjects(owner, exportId, subjects);
    for (const { event, exact } of released) {
      row++;
      if (!exact) unreadable++;
      if (event.held) held++;
      const { restricted: _, ...attributes } = { ...event, purpose: purposes.get(event.purpose) };
      file.append(Buffer.from(`${JSON.stringify({ row, ...attributes, ...bytesOf(exact) })}\n`));
    }
    yield* file.take();
    processed += page.length;
    onProgress(processed);
  }
  const manifest: EventExportManifest = {
    manifest_version: 1,
    kind: "events",
    export_id: exportId,
    recipient: order.recipient,
    expires_on: order.expiresOn,
    watermark,
    case_id: order.case.case_id,
    file: { ...file.measured(), rows: row },
    unreadable,
    held,
  };
  await finishExport(owner, manifest);
  yield { manifest };
}

/** The bytes as Base64, which keeps every byte. JSON text would not keep bytes that are not UTF-8. */
const bytesOf = (exact: Buffer | undefined): object =>
  exact
    ? {
        bytes: exact.length,
        sha256: createHash("sha256").update(exact).digest("hex"),
        exact_base64: exact.toString("base64"),
      }
    : { unreadable: true };

interface Released {
  readonly event: ListedEvent;
  /** The exact bytes; absent if the event can't be opened. */
  readonly exact: Buffer | undefined;
}

/**
 * Reads the bytes of events. Audit entries that name each event are committed first. Events that were erased or
 * restricted in the meantime are left out.
 * @throws state-conflict if the case is no longer open.
 */
async function release(
  { pool, audit, sealer, clock }: EventExportPorts,
  order: EventExportOrder,
  exportId: string,
  page: readonly ListedEvent[],
): Promise<readonly Released[]> {
  const { case: openCase } = order;
  const entry = { ...entryOf(order, exportId), operation: "event.export" };
  // guard(drop): an audit entry that names the event is committed before its bytes are read
  await inTransaction(pool, async (transaction) => {
    // guard(false): an export ends with its case
    if (!(await findOpenCase(transaction, clock, openCase.case_id, openCase.opened_by))) throw caseEnded();
    await addOpenedEvents(transaction, openCase.case_id, page.length);
    for (const [account, events] of Map.groupBy(page, (event) => event.account)) {
      await writeAudit(transaction, audit, { ...entry, account, eventIds: events.map(({ event_id }) => event_id) });
    }
  });
  const stored = await readSelected(pool, page);
  const released: Released[] = [];
  for (const event of page) {
    const one = stored.get(event.event_id);
    if (one) released.push({ event, exact: await openIfReadable(sealer, one) });
  }
  return released;
}

const moreThanCounted = (events: number): OperatorError =>
  new OperatorError(
    "state-conflict",
    `The export selects more than the ${plural(events, "event")} that it was counted and approved for: the file is incomplete. Export again, with an end of the period (--to).`,
  );

const caseEnded = (): OperatorError =>
  new OperatorError(
    "state-conflict",
    "The case of the export has ended: the file is not whole. Open a case, and export again.",
  );

async function readSelected(
  executor: Executor,
  page: readonly ListedEvent[],
): Promise<ReadonlyMap<string, StoredEvent>> {
  const keys = page.map(({ event_id: eventId, purpose, received_at }) => {
    return { eventId, purpose, receivedAt: Date.parse(received_at) };
  });
  const found = new Map((await readEvents(executor, keys)).map((event) => [event.eventId, event]));
  // Copies that holds keep are in no partition, so they are read separately.
  for (const { eventId } of keys.filter((key) => !found.has(key.eventId))) {
    const copy = await findEvent(executor, eventId);
    if (copy) found.set(eventId, copy);
  }
  return found;
}
