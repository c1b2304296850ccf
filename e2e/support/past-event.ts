/** Events that were received in the past, stored by the real sealer and store. */
import { randomUUID } from "node:crypto";
import { uuidv7 } from "../../packages/server/src/base/identifiers/uuidv7.ts";
import type { System } from "../../packages/server/src/runtime/system.ts";
import type { EventStore, PromotedAttributes } from "../../packages/server/src/base/ports.ts";
import { readPolicyVersion } from "../../packages/server/src/purposes/policy-table.ts";
import { PostgresEventStore } from "../../packages/server/src/store/events/event-store.ts";

export interface PastEvent extends PromotedAttributes {
  readonly exact: string;
}

export type EventIn = Partial<Omit<PromotedAttributes, "eventId" | "receivedAt">>;

/**
 * Stores events as if they had been received some hours ago. The maximum is 48, because no partition is made for
 * earlier hours.
 */
export class Past {
  readonly #system: System;
  readonly #store: EventStore & { close(): Promise<void> };

  constructor(system: System) {
    const { database, pool, partitions, pseudonymizer, accountKeys } = system;
    const onError = (): void => {};
    this.#system = system;
    this.#store = new PostgresEventStore({
      database,
      executor: pool,
      partitions,
      pseudonymizer,
      newLane: () => system.audit.lane(),
      canStore: () => true,
      onStale: () => accountKeys.refresh(),
      onConnectionLost: () => accountKeys.clear(),
      generation: () => accountKeys.generation,
      onError,
      onBatch: () => {},
    });
  }

  async store(
    hoursAgo: number,
    attributes: EventIn = {},
    exact = `{"exact": "${randomUUID()}",  "n": 1.0}`,
  ): Promise<PastEvent> {
    const receivedAt = this.#system.clock.now() - hoursAgo * 3_600_000;
    const event: PromotedAttributes = {
      account: "one",
      purpose: 1,
      idempotencyKey: randomUUID(),
      schemaVersion: 1,
      actionId: randomUUID(),
      actionType: "payment",
      sessionId: "session",
      eventType: "device_intel_collection",
      sdkVersion: "1.2.3",
      platform: "android",
      appVersion: "7.1.0",
      ...attributes,
      eventId: uuidv7(receivedAt),
      receivedAt,
    };
    const { sealer } = this.#system;
    const requestMac = sealer.requestMac(event.eventId, Buffer.from(exact));
    const collectedAt = { epochMs: receivedAt, micros: 0 };
    for (;;) {
      const sealed = await sealer.seal(event, Buffer.from(exact));
      const version = await readPolicyVersion(this.#system.pool);
      const outcome = await this.#store.append({ ...event, policyVersion: version, collectedAt, requestMac, sealed });
      if (outcome === "stored") return { ...event, exact };
      if (outcome !== "stale") throw new Error("the key was taken");
    }
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
