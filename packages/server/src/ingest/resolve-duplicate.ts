import { timingSafeEqual } from "node:crypto";
import { canonicalRequest, type CreateResponse, type TransportRequest } from "@device-risk-signals/contract";
import {
  type AuditLog,
  type EventStore,
  areKeysDestroyed,
  type LedgerEntry,
  type Sealer,
  type StoredEvent,
} from "../base/ports.ts";
import type { LimitedTasks } from "./limited-tasks.ts";
import { freeMemory } from "./read-body.ts";
import { parseTextInTurns } from "./parse-text.ts";
import type { RateThrottle } from "./throttle.ts";
import { type Answer, type RejectedRequest, rejectRequest } from "./request.ts";

export interface Retry {
  readonly account: string;
  readonly idempotencyKey: string;
  readonly body: Buffer;
  /** Returns the parsed body of the request. */
  readonly parsed: () => TransportRequest;
  /**
   * Charges the account for a comparison in canonical form, before the comparison.
   * @returns a rejection if the account is in debt.
   */
  readonly chargeComparison: () => RejectedRequest | undefined;
}

export interface ResolvePorts {
  readonly store: EventStore;
  readonly sealer: Sealer;
  readonly audit: AuditLog;
  /**
   * Limits the comparisons of each account. The database returns a limited number of payloads for replays in an hour,
   * and all accounts share this limit.
   */
  readonly comparisons: RateThrottle;
  /** Limits the memory of comparisons that run at the same time. */
  readonly slowReads: LimitedTasks;
}

/**
 * Decides whether a request whose idempotency key is in use is a replay or a conflict. Equal bytes are a replay. Other
 * bytes are a replay if both requests are equal in canonical form. When the raw event is deleted, other bytes are a
 * conflict, because they can't be compared any more.
 */
export async function resolveDuplicate(
  retry: Retry,
  entry: LedgerEntry,
  ports: ResolvePorts,
): Promise<Answer | RejectedRequest> {
  const mac = ports.sealer.requestMac(entry.eventId, retry.body);
  if (!timingSafeEqual(mac, entry.requestMac)) {
    const tooCostly = retry.chargeComparison();
    if (tooCostly) return tooCostly;
    const { isAllowed, retryAfterSeconds } = ports.comparisons.take(retry.account);
    // guard(false): one account does not use up the reads of payloads that all accounts share
    if (!isAllowed) return rejectRequest("too-many-requests", { "Retry-After": String(retryAfterSeconds) });
    // guard(true): a request that is equal in canonical form is a replay
    // guard(false): a request with another payload is a conflict
    if (!(await equalInCanonicalForm(retry, ports))) return rejectRequest("idempotency-conflict");
  }
  // The audit entry of a retry of an erased event contains no account and no event id.
  const names = entry.location ? { account: retry.account, eventId: entry.eventId } : {};
  ports.audit.record({ operation: "event.create", outcome: "replayed", ...names });
  return {
    status: 200,
    headers: { "Content-Type": "application/json", "Idempotency-Replayed": "true" },
    body: JSON.stringify({ event_id: entry.eventId, created: false } satisfies CreateResponse),
  };
}

export function answerCreated(eventId: string): Answer {
  return {
    status: 201,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ event_id: eventId, created: true } satisfies CreateResponse),
  };
}

async function equalInCanonicalForm(retry: Retry, { store, sealer, slowReads }: ResolvePorts): Promise<boolean> {
  const stored = await store.findStored(retry.account, retry.idempotencyKey);
  if (!stored) return false;
  const exact = await sealer.open(stored, stored.sealedUnder, stored.payload).catch((error: unknown) => {
    if (areKeysDestroyed(error)) return undefined;
    throw error;
  });
  if (exact === undefined) return false;
  return slowReads.run(async () => {
    const request = await rebuild(stored, exact);
    freeMemory(exact);
    return canonicalRequest(request) === canonicalRequest(retry.parsed());
  });
}

/**
 * Restores the stored request from its promoted attributes and the bytes of its event. These bytes parse without an
 * error, because they did so before they were stored.
 */
async function rebuild(stored: StoredEvent, exact: Buffer): Promise<TransportRequest> {
  return {
    action_id: stored.actionId,
    action_type: stored.actionType,
    sdk_version: stored.sdkVersion,
    platform: stored.platform as TransportRequest["platform"],
    app_version: stored.appVersion,
    observations: (await parseTextInTurns(exact)) as TransportRequest["observations"],
  };
}
