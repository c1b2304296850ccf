import { describe, expect, it } from "vitest";
import { type EventStore, type LedgerEntry, type Sealer, Unavailable } from "../base/ports.ts";
import { append } from "./append.ts";

type Parameter<Index extends number> = Parameters<typeof append>[Index];

const ASSIGNED = { purpose: { code: 1, policyVersion: 0 } } as Parameter<1>;
const EVENT = { account: "known", idempotencyKey: "key" } as Parameter<0>;

it("a retry after an erasure that this server has not noticed is answered by the ledger, and creates no key", async () => {
  const ledgerEntry = { eventId: "019a0000-0000-7000-8000-000000000000" } as LedgerEntry;
  const known = [true, false];
  const unexpected = (): never => {
    throw new Error("an erased account gets no key, and its event is not stored");
  };
  const answer = await append({ ...EVENT, account: "erased" }, ASSIGNED, Buffer.from("{}"), {
    store: { findKey: async () => ledgerEntry, append: unexpected } as unknown as EventStore,
    sealer: { seal: unexpected, sealUnderExistingKey: async () => undefined } as unknown as Sealer,
    accounts: { isKnown: () => known.shift() ?? false, isRefused: () => false },
    assign: () => ASSIGNED,
  });
  expect(answer).toBe(ledgerEntry);
});

describe("an event whose partition was dropped, because the clock is behind", () => {
  const dropped = new Unavailable("what was received then has expired", { code: "partition-missing" });
  const appendWith = async (entry: LedgerEntry | undefined, error: Error = dropped): ReturnType<typeof append> =>
    append(EVENT, ASSIGNED, Buffer.from("{}"), {
      store: { findKey: async () => entry } as unknown as EventStore,
      sealer: { sealUnderExistingKey: () => Promise.reject(error) } as unknown as Sealer,
      accounts: { isKnown: () => true, isRefused: () => false },
      assign: () => ASSIGNED,
    });
  const stored = { eventId: "019a0000-0000-7000-8000-000000000001" } as LedgerEntry;

  it("a retry whose partition was dropped is answered by the ledger", async () => {
    expect(await appendWith(stored)).toBe(stored);
  });

  it("a new event is rejected as unavailable", async () => {
    await expect(appendWith(undefined)).rejects.toBe(dropped);
  });

  it("another error is not answered by the ledger", async () => {
    const error = new Unavailable("the key store can't be reached");
    await expect(appendWith(stored, error)).rejects.toBe(error);
  });
});
