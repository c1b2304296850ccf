import type { TransportRequest } from "@device-risk-signals/contract";
import { expect, it } from "vitest";
import type { LedgerEntry } from "../base/ports.ts";
import { RejectedRequest } from "./request.ts";
import { LimitedTasks } from "./limited-tasks.ts";
import { resolveDuplicate, type ResolvePorts } from "./resolve-duplicate.ts";
import { accountThrottle } from "./throttle.ts";

it("retries with other bytes are compared up to the limit of their account, and retries of another account are still compared", async () => {
  const read: string[] = [];
  const ports = {
    sealer: { requestMac: () => Buffer.from("other") },
    store: { findStored: async (account: string) => void read.push(account) },
    comparisons: accountThrottle(0.5, 2, { now: () => 0 }),
    slowReads: new LimitedTasks(1),
  } as unknown as ResolvePorts;
  const entry = { eventId: "e", requestMac: Buffer.from("known") } as LedgerEntry;
  const retry = async (account: string): Promise<string> => {
    const parsed = (): TransportRequest => ({}) as TransportRequest;
    const given = { account, idempotencyKey: "k", body: Buffer.of(), parsed, chargeComparison: () => undefined };
    const answer = await resolveDuplicate(given, entry, ports);
    return answer instanceof RejectedRequest ? answer.rejection.code : "answered";
  };
  const codes = [await retry("a"), await retry("a"), await retry("a"), await retry("b")];
  expect(codes).toEqual(["idempotency-conflict", "idempotency-conflict", "too-many-requests", "idempotency-conflict"]);
  expect(read).toEqual(["a", "a", "b"]);
});
