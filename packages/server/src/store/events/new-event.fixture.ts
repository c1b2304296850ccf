import { randomBytes } from "node:crypto";
import { uuidv7 } from "../../base/identifiers/uuidv7.ts";
import type { NewEvent } from "../../base/ports.ts";

/** The id of an account key that is not erased. `openEventStore` stores the key in the database. */
export const TEST_KEY = "00000000-0000-4000-8000-000000000001";

let eventCount = 0;

/** An event in the form in which the ingest core passes it to the store, with a new idempotency key. */
export function newEvent(change: Partial<NewEvent> = {}): NewEvent {
  const receivedAt = change.receivedAt ?? Date.now();
  return {
    account: "customer-1",
    eventId: uuidv7(receivedAt),
    purpose: 1,
    policyVersion: 0,
    receivedAt,
    schemaVersion: 1,
    idempotencyKey: `key-${eventCount++}`,
    actionId: "action-1",
    actionType: "payment",
    sessionId: "session-1",
    eventType: "device_intel_collection",
    sdkVersion: "1.2.3",
    platform: "android",
    appVersion: "",
    collectedAt: { epochMs: receivedAt - 1_000, micros: 0 },
    requestMac: randomBytes(16),
    sealed: { payload: randomBytes(200), keyId: TEST_KEY, keyEpoch: { erasure: 0, loss: 0 }, generation: 0 },
    ...change,
  };
}
