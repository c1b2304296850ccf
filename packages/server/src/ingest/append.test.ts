import { expect, it } from "vitest";
import type { EventStore, LedgerEntry, Sealer } from "../ports.ts";
import { append } from "./append.ts";

it("a retry after an erasure that this server has not noticed is answered by the ledger, and gets no key", async () => {
  const taken = { eventId: "019a0000-0000-7000-8000-000000000000" } as LedgerEntry;
  const known = [true, false];
  const assigned = { purpose: { code: 1, policyVersion: 0 } } as Parameters<typeof append>[1];
  const unexpected = (): never => {
    throw new Error("an erased account gets no key, and its event is not stored");
  };
  const event = { account: "erased", idempotencyKey: "key" } as Parameters<typeof append>[0];
  const answer = await append(event, assigned, Buffer.from("{}"), {
    store: { findKey: async () => taken, append: unexpected } as unknown as EventStore,
    sealer: { seal: unexpected, sealUnderExistingKey: async () => undefined } as unknown as Sealer,
    accounts: { isKnown: () => known.shift() ?? false, isRefused: () => false },
    assign: () => assigned,
  });
  expect(answer).toBe(taken);
});
