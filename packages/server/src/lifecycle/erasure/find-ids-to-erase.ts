import { findAccountId, findKeyIds } from "../../store/accounts/accounts.ts";
import { receivedAtOf } from "../../store/events/read-events.ts";
import { NOT_ERASED, searchEventsOf, subjectSearch } from "../../store/events/search-events.ts";
import { findEventsWithFeatures } from "../../features/erase-features.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import type { ErasedIds } from "../holds/copy-held-events.ts";
import { findCopiesOfAccount } from "../holds/erased-copies.ts";
import type { ErasureSubject } from "./plan-erasure.ts";

/** The ids that an erasure names in its entry of the journal. */
export interface FoundIds extends ErasedIds {
  /** The id of the account if it is erased as a whole; empty otherwise. */
  readonly accounts: readonly string[];
}

/**
 * Finds the ids that an erasure of the subject covers.
 * @param until a time in RFC 3339. Ids of data that was stored later are left out.
 */
export async function findIdsToErase(executor: Executor, subject: ErasureSubject, until?: string): Promise<FoundIds> {
  const isInTime = (id: string): boolean => until === undefined || receivedAtOf(id).getTime() <= Date.parse(until);
  if (subject.kind === "event") return { keys: [], accounts: [], events: [subject.eventId] };
  if (subject.kind === "action") {
    // guard(drop): feature values of an action are erased even if its events have expired
    const withFeatures = await findEventsWithFeatures(executor, subject.actionId);
    const events = new Set([...(await findEventsOf(executor, subject)), ...withFeatures]);
    return { keys: [], accounts: [], events: [...events].filter(isInTime) };
  }
  const purpose = subject.kind === "purpose" ? subject.purpose : undefined;
  const keys = await findKeyIds(executor, subject.account, purpose, until);
  const events = await findCopiesOfAccount(executor, subject.account, purpose);
  const accountId = purpose === undefined ? await findAccountId(executor, subject.account, until) : undefined;
  return { keys, accounts: accountId === undefined ? [] : [accountId], events: events.filter(isInTime) };
}

const FIND_EVENTS = subjectSearch(
  {
    view: "kept_event",
    select: "event_id as id",
    where: `erased_by is null and ${NOT_ERASED}`,
  },
  { id: "uuid" },
);

async function findEventsOf(executor: Executor, subject: ErasureSubject): Promise<string[]> {
  const found = searchEventsOf(executor, FIND_EVENTS, subject);
  const ids: string[] = [];
  for await (const { id } of found) ids.push(id);
  return ids;
}
