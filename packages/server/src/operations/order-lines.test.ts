import { beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { endOrder, takeOrder } from "../access/orders/admin-orders.ts";
import { insertPart } from "../access/orders/order-parts.ts";
import type { PartReader } from "../access/orders/part-codec.ts";
import { withClient } from "../store/postgres/database.ts";
import { placeOrder } from "./admin-orders.ts";
import { receiveLines as receive, sendLines as send } from "./order-lines.ts";
import { type AdminPorts, portsOf } from "./ports.ts";

const scene = useTestSystem();
const ports = () => portsOf(scene.system, scene.system);
let id: string;
let reader: PartReader;

beforeEach(async () => {
  const tokenId = "019a0000-0000-7000-8000-000000000000";
  const caller = { person: "ann", actor: "ann (x)", via: "api", roles: ["privacy"], tokenId } as const;
  ({ order_id: id } = await placeOrder(ports(), "exportAccount", caller, { input: {} }));
  reader = scene.system.orders.partReader();
});

const receiveLines = (given: AdminPorts, stop?: AbortSignal) => receive(given, { orderId: id, parts: reader }, stop);
const sendLines = (values: AsyncIterable<unknown>, readWithinMs?: number) =>
  send(
    scene.system.pool,
    { orderId: id, parts: scene.system.orders.partWriter(reader.publicKey) },
    values,
    readWithinMs,
  );

async function* of(values: readonly unknown[]): AsyncGenerator {
  yield* values;
}

async function end(): Promise<void> {
  const { database, pool, clock } = scene.system;
  const order = await withClient(database, (session) => takeOrder(session, clock, "exportAccount"));
  const result = scene.system.orders.seal(id, "result", { answer: null });
  await endOrder(pool, clock, { orderId: id, tries: order?.tries ?? 0 }, { state: "done", result });
}

describe("an answer that is a stream", () => {
  it("of more parts than may be unread is received as it was sent, and leaves no part in the database", async () => {
    const values = Array.from({ length: 30 }, (_, number) => ({ number, text: "x".repeat(100_000) }));
    const sent = sendLines(of(values)).then(end);
    const received = [];
    for await (const value of receiveLines(ports())) received.push(value);
    await sent;
    expect(received).toEqual(values);
    expect((await scene.owner.query("select from drs.admin_order_part")).rowCount).toBe(0);
  });

  it("that no process reads fails", async () => {
    await expect(sendLines(of([1]), 100)).rejects.toMatchObject({ code: "order-interrupted" });
    await end();
  });

  it("is waited for while its order waits for others, and for 60 seconds after a worker started it", async () => {
    let nowMs = 0;
    const monotonic = { now: () => (nowMs += 30_000) };
    let state = "open";
    const lines = receiveLines({ ...ports(), monotonic }).next();
    const ended = expect(lines.finally(() => (state = "ended"))).rejects.toMatchObject({
      code: "dependency-unavailable",
    });
    await until(async () => nowMs > 120_000);
    expect(state).toBe("open");
    await withClient(scene.system.database, (session) => takeOrder(session, scene.system.clock, "exportAccount"));
    await ended;
    await end();
  });

  it("whose caller has left is not waited for", async () => {
    const caller = new AbortController();
    const next = receiveLines(ports(), caller.signal).next();
    caller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    await end();
  });

  it("is not waited for once its order has expired", async () => {
    const clock = { now: () => scene.system.clock.now() + 2 * 3_600_000 };
    await expect(receiveLines({ ...ports(), clock }).next()).rejects.toMatchObject({ name: "OrderFailed" });
    await end();
  });

  it.each([
    ["that was changed", { number: 1, content: Buffer.alloc(40) }],
    ["that lacks its first part", { number: 2, content: Buffer.alloc(40) }],
  ])("%s is not shown", async (_, part) => {
    await insertPart(scene.system.pool, id, part);
    await expect(receiveLines(ports()).next()).rejects.toMatchObject({ code: "order-changed" });
    await end();
  });
});
