/** Tests of what the audit knows about an idempotency key, and of what it can't know. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { openEventStore } from "../store/events/event-store.fixture.ts";
import type { PostgresEventStore } from "../store/events/event-store.ts";
import { newEvent } from "../store/events/new-event.fixture.ts";
import { uuidv7 } from "../base/identifiers/uuidv7.ts";
import type { IngestAudit, NewEvent } from "../base/ports.ts";
import { AuditSigner } from "./audit-signer.ts";
import { BufferedAuditLog } from "./audit.ts";
import { type Timeline, timelineOfIdempotencyKey } from "./timeline.ts";

const opened = useTestSystem();
let store: PostgresEventStore;

beforeAll(async () => {
  store = await openEventStore(opened.system);
});

afterAll(() => store?.close());

async function stored(change: Partial<NewEvent> = {}): Promise<NewEvent> {
  const event = newEvent(change);
  expect(await store.append(event)).toBe("stored");
  return event;
}

/** Writes the entries that a server writes in one flush, `afterMs` after it received the event. */
async function audit(event: NewEvent, afterMs: number, ...entries: Omit<IngestAudit, "operation">[]): Promise<void> {
  const clock = { now: () => event.receivedAt + afterMs };
  const signer = new AuditSigner(Buffer.alloc(32), opened.system.pseudonymizer, opened.system.secrets, clock);
  const log = new BufferedAuditLog(opened.system.pool, signer, (error) => {
    throw error;
  });
  for (const entry of entries) log.record(entry);
  await log.close();
}

const timelineOf = ({ account, idempotencyKey }: NewEvent, limit = 100): Promise<Timeline | undefined> =>
  timelineOfIdempotencyKey(opened.system.pool, opened.system.audit.named(account), idempotencyKey, limit);

describe("the timeline of an idempotency key", () => {
  it("has the event, its warnings, its replays and conflicts, in order, and nothing of another key", async () => {
    const [event, other] = [await stored(), await stored()];
    const { account, eventId } = event;
    await audit(event, 10, { outcome: "session-mismatch", account, eventId });
    await audit(other, 10, { outcome: "replayed", account: other.account, eventId: other.eventId });
    await audit(event, 2_000, ...Array.from({ length: 3 }, () => ({ outcome: "replayed" as const, account, eventId })));
    await audit(event, 5_000, { outcome: "idempotency-conflict", account, eventId });
    const at = (ms: number): string => new Date(event.receivedAt + ms).toISOString();
    expect(await timelineOf(event)).toEqual({
      event_id: eventId,
      entries: [
        { at: expect.any(String) as string, outcome: "accepted", occurrences: 1, events: 1 },
        { at: at(10), outcome: "session-mismatch", occurrences: 1, events: 1 },
        { at: at(2_000), outcome: "replayed", occurrences: 3, events: 1 },
        { at: at(5_000), outcome: "idempotency-conflict", occurrences: 1, events: 1 },
      ],
      more: false,
      unnamed: { entries: 0, occurrences: 0 },
    });
    expect(await timelineOf(event, 2)).toMatchObject({ entries: [{}, { outcome: "session-mismatch" }], more: true });
  });

  it("shows over how many events an entry counts retries", async () => {
    const event = await stored();
    const { account, eventId } = event;
    const replay = (id: string): Omit<IngestAudit, "operation"> => ({ outcome: "replayed", account, eventId: id });
    await audit(event, 1_000, replay(eventId), replay(uuidv7(event.receivedAt)), replay(eventId));
    expect((await timelineOf(event))?.entries.at(-1)).toMatchObject({ occurrences: 3, events: 2 });
  });

  it("counts retries that may belong to the key, in entries that name a hundred other events", async () => {
    const event = await stored();
    const { account } = event;
    const others = Array.from({ length: 150 }, () => ({
      outcome: "idempotency-conflict" as const,
      account,
      eventId: uuidv7(event.receivedAt),
    }));
    await audit(event, 1_000, ...others, { outcome: "idempotency-conflict", account, eventId: event.eventId });
    await audit(event, 2_000, ...others.slice(0, 99));
    expect(await timelineOf(event)).toMatchObject({
      entries: [{ outcome: "accepted" }],
      unnamed: { entries: 1, occurrences: 151 },
    });
  });

  it("does not exist for another account's key, an unused key, or an erased event", async () => {
    const event = await stored();
    expect(await timelineOf({ ...event, account: "another" })).toBeUndefined();
    expect(await timelineOf({ ...event, idempotencyKey: "unused" })).toBeUndefined();
    // The account has no key id, as after the start of an erasure, before its ledger rows are deleted.
    const keyId = "019a0000-0000-4000-8000-000000000000";
    const sealed = { ...event.sealed, keyId };
    const erased = await stored({ sealed });
    expect(await timelineOf(erased)).toBeUndefined();
  });
});
