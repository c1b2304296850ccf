/**
 * Answers that are streams: a worker applies the order and writes the answer in parts, and the process of the admin API
 * that answers the caller reads them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AdminProblem } from "@device-risk-signals/admin-api";
import type { System } from "../runtime/system.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findAdminOrder } from "../access/orders/admin-orders.ts";
import { countParts, insertPart, takePart } from "../access/orders/order-parts.ts";
import type { PartReader, PartWriter } from "../access/orders/part-codec.ts";
import { orderChanged, resultOf } from "./admin-orders.ts";
import type { AdminPorts } from "./ports.ts";

/** A part ends with the line that reaches this number of characters, so a single line may make it longer. */
const PART_CHARACTERS = 262_144;
/** Maximum number of parts that the reader has not read yet. */
const MAX_UNREAD = 8;
const POLL_EVERY_MS = 50;
/**
 * Interval for polling an order that no worker has started. It is longer, because the order may wait for other orders
 * of its route.
 */
const WAITING_POLL_MS = 200;
const READ_WITHIN_MS = 30_000;
/** A worker that has started the order and writes nothing for this long counts as unavailable. */
const WRITE_WITHIN_MS = 60_000;

/** An order, and the writer or the reader of its parts. */
interface PartsOf<End> {
  readonly orderId: string;
  readonly parts: End;
}

/**
 * Writes values as parts that only their reader can open, and waits until the reader has read them.
 * @param readWithinMs a reader that takes nothing for this long counts as lost.
 * @throws order-interrupted if no process reads them.
 */
export async function sendLines(
  pool: System["pool"],
  { orderId, parts }: PartsOf<PartWriter>,
  values: AsyncIterable<unknown>,
  readWithinMs = READ_WITHIN_MS,
): Promise<void> {
  let [number, lines, characters] = [0, [] as unknown[], 0];
  const write = async (): Promise<void> => {
    await waitForReader(pool, orderId, MAX_UNREAD - 1, readWithinMs);
    number++;
    await insertPart(pool, orderId, { number, content: parts.seal(orderId, number, lines) });
    [lines, characters] = [[], 0];
  };
  for await (const value of values) {
    lines.push(value);
    characters += JSON.stringify(value).length;
    if (characters >= PART_CHARACTERS) await write();
  }
  if (lines.length > 0) await write();
  await waitForReader(pool, orderId, 0, readWithinMs);
}

/** Waits until at most `maxUnread` parts are unread. */
async function waitForReader(
  pool: System["pool"],
  orderId: string,
  maxUnread: number,
  withinMs: number,
): Promise<void> {
  let [lastUnread, deadline] = [Infinity, 0];
  for (;;) {
    const unread = await countParts(pool, orderId);
    if (unread <= maxUnread) return;
    if (unread < lastUnread) [lastUnread, deadline] = [unread, performance.now() + withinMs];
    // guard(drop): an answer that no process reads is not kept
    if (performance.now() >= deadline) throw noReader();
    await sleep(POLL_EVERY_MS);
  }
}

const noReader = (): OperatorError =>
  new OperatorError("order-interrupted", "No process of the admin API reads the answer.");

/** Thrown if the order ended with this problem. */
export class OrderFailed extends Error {
  override readonly name = "OrderFailed";
  readonly problem: AdminProblem;

  constructor(problem: AdminProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/**
 * Yields the values that the worker writes, until the order ends.
 * @param stop aborts when the caller has closed the connection.
 * @throws OrderFailed, order-changed, dependency-unavailable
 */
export async function* receiveLines(
  ports: AdminPorts,
  { orderId, parts }: PartsOf<PartReader>,
  stop?: AbortSignal,
): AsyncGenerator {
  const { pool, clock, monotonic } = ports;
  let [expected, until] = [1, monotonic.now() + WRITE_WITHIN_MS];
  for (;;) {
    // guard(drop): a caller that has left is not waited for
    if (stop?.aborted) return;
    // The order is read before the part. In the reverse sequence, the last part could be written between the two reads,
    // and be missed.
    const order = await findAdminOrder(pool, clock, orderId);
    const part = await takePart(pool, orderId);
    if (part) {
      const values = parts.open(orderId, part.number, part.content) as readonly unknown[] | undefined;
      // guard(false): a part that is missing or changed ends the answer
      if (part.number !== expected || !values) throw orderChanged();
      yield* values;
      [expected, until] = [expected + 1, monotonic.now() + WRITE_WITHIN_MS];
      continue;
    }
    if (order?.state === "done") return;
    const { problem } = order ? await resultOf(ports, order) : {};
    if (problem) throw new OrderFailed(problem as AdminProblem);
    if (order?.state === "waiting") {
      // The time limit starts when a worker begins the order. An order that waits too long becomes `expired`.
      until = monotonic.now() + WRITE_WITHIN_MS;
      await sleep(WAITING_POLL_MS);
      continue;
    }
    if (monotonic.now() >= until) throw new OperatorError("dependency-unavailable", "No worker answers the order.");
    await sleep(POLL_EVERY_MS);
  }
}
