/** Orders: calls that a worker applies, because they need a login that the admin API does not have. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, isRouteId, type Order, type RouteId, routeOf, scopeOf } from "@device-risk-signals/admin-api";
import { writeAudit } from "../audit/audit.ts";
import { personsOfActor } from "../audit/actor-persons.ts";
import { auditSecretName, openDetail, sealDetail } from "../audit/personal-detail.ts";
import type { Keys } from "../runtime/open-keys.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf, type Caller } from "../access/identity/caller.ts";
import {
  findAdminOrder,
  insertOrder,
  listOrders as queryOrders,
  MAX_OPEN,
  type OrderRow,
  type OrderWithResult,
  takeResult,
} from "../access/orders/admin-orders.ts";
import { type OrderCodec, type OrderInput, type OrderRecord, sha256 } from "../access/orders/order-codec.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";
import type { AdminPorts } from "./ports.ts";
import { AdminError, adminErrorOf } from "./problem.ts";

/**
 * A worker begins an order within an hour or rejects it, because later the caller may have other roles, or no reason
 * any more.
 */
const BEGIN_WITHIN_MS = 3_600_000;

export const listOrders: Operation<"listOrders"> = async ({ ports, caller, scope, input }) => {
  const page = pageOf(input);
  const rows = await queryOrders(ports.pool, ports.clock, scope === "own" ? caller.person : undefined, page);
  const next = nextOf(rows, page, ({ requested_at, order_id }) => [requested_at, order_id]);
  return { answer: { orders: rows.map(shownOrder), next }, audit: { detail: { count: rows.length } } };
};

/** The person who placed an order reads its state without an audit entry, because the order has entries of its own. */
export const readOrder: Operation<"readOrder"> = async ({ ports, caller, scope, input }) => {
  const { order_id: id, wait_ms = 0 } = input;
  const row = await waitForEnd(ports, id.toLowerCase(), wait_ms);
  const isOwn = row?.person === caller.person;
  // guard(false): a person who may read only their own orders finds no order of another person
  if (!row || (scope === "own" && !isOwn)) throw new OperatorError("not-found", `There is no order ${id}.`);
  // guard(true): the answer of an order is not shown to a caller whose roles no longer allow its operation
  const isAllowed = isRouteId(row.route) && scopeOf(routeOf(row.route).permission, caller.roles) !== undefined;
  const isByOthers = personsOfActor(row.actor).join() !== personsOfActor(caller.actor).join();
  // guard(false): a token that two people know, because one obtained it for the other, reads no secret of one of them
  const isHidden = isShownOnce(row) && isByOthers;
  const isRead = isOwn && !isHidden && (isAllowed || !isShownOnce(row));
  const { answer = null, problem = null } = isRead ? await resultOf(ports, row) : {};
  return {
    answer: { ...shownOrder(row), answer: isAllowed ? answer : null, problem },
    ...(!isOwn && { audit: { detail: { order_id: id } } }),
  };
};

export const shownOrder = ({ route, person, ...row }: OrderRow): Order => ({
  order_id: row.order_id,
  operation: isRouteId(route) ? routeOf(route).operation : route,
  requested_by: person,
  requested_at: row.requested_at,
  expires_at: row.expires_at,
  state: row.state,
  started_at: row.started_at,
  ended_at: row.ended_at,
  progress: row.progress,
});

/** The answer of a worker for an order that has ended. */
export type OrderResult = Partial<Pick<Answer<"readOrder">, "answer" | "problem">>;

/**
 * A result about one account. It is sealed under the audit secret of the account, so that an erasure of the account
 * also makes the result unreadable.
 */
interface SealedResult {
  readonly secret_id: string;
  /** Base64. */
  readonly sealed: string;
}

/**
 * @param account the account whose data the result contains; `undefined` if it contains no data of a person.
 * @throws Unavailable
 */
export async function sealResult(
  { pool, orders, audit }: Pick<Keys, "orders" | "audit"> & Pick<AdminPorts, "pool">,
  orderId: string,
  result: OrderResult,
  account?: string,
): Promise<Buffer> {
  if (account === undefined) return orders.seal(orderId, "result", result);
  const owner = { entryId: orderId, subject: audit.subjectOf(account) };
  const { secretId, sealed } = (await sealDetail(pool, audit, owner, { detail: result })) ?? {};
  if (!secretId || !sealed) throw new TypeError("a result has a detail");
  const stored: SealedResult = { secret_id: secretId, sealed: sealed.toString("base64") };
  return orders.seal(orderId, "result", stored);
}

/**
 * Opens the result of an order. If the answer contains a secret, this call deletes the stored answer, which is shown
 * only once.
 */
export async function resultOf({ keys, pool, clock }: AdminPorts, row: OrderWithResult): Promise<OrderResult> {
  const { order_id: id, state, result } = row;
  if (state === "expired") return problemOf(orderExpired());
  const isTaken = state === "done" && isShownOnce(row);
  const storedResult = isTaken ? await takeResult(pool, clock, id) : result;
  if (!storedResult) return isTaken ? problemOf(shownBefore()) : {};
  const { orders, secrets } = await keys();
  const opened = orders.open(id, "result", storedResult) as OrderResult | SealedResult | undefined;
  if (!opened) return problemOf(orderChanged());
  if (!("sealed" in opened)) return opened;
  const sealed = Buffer.from(opened.sealed, "base64");
  const personal = await openDetail(secrets, { entryId: id, secretId: opened.secret_id, sealed });
  return personal?.detail ?? problemOf(erased(opened.secret_id));
}

const isShownOnce = ({ route }: OrderRow): boolean => isRouteId(route) && routeOf(route).isShownOnce === true;

const shownBefore = (): OperatorError =>
  new OperatorError(
    "not-found",
    "The answer contained a secret and is deleted: it was shown once, or not read within five minutes. Revoke what was issued, and give the order again.",
  );

const problemOf = (error: OperatorError): OrderResult => ({ problem: adminErrorOf(error).shown.problem });

const erased = (secretId: string): OperatorError =>
  new OperatorError("keys-destroyed", "The answer is about an account that was erased, and can't be opened any more.", {
    detail: { secrets: [auditSecretName(secretId)] },
  });

export const orderExpired = (): OperatorError =>
  new OperatorError(
    "order-refused",
    "No worker began the order within an hour. Check that a worker runs, and give the order again.",
  );

export const orderChanged = (): OperatorError =>
  new OperatorError("order-changed", "The order was changed in the database after it had been given: see drs doctor.");

/**
 * Places an order. When the promise resolves, the order and its audit entry are committed.
 * @throws AdminError too-many-requests
 */
export async function placeOrder(ports: AdminPorts, id: RouteId, caller: Caller, input: OrderInput): Promise<OrderRow> {
  const { audit, orders } = await ports.keys();
  const order = recordOf(orders, ports.clock.now(), id, caller, input);
  await inTransaction(ports.pool, async (transaction) => {
    if (!(await insertOrder(transaction, order))) {
      const detail = `The person has ${MAX_OPEN} orders that no worker has applied yet.`;
      throw new AdminError("too-many-requests", { detail, headers: { "Retry-After": "60" } });
    }
    const detail = { of: routeOf(id).operation };
    const agent = { ...agentOf(caller), orderId: order.orderId };
    await writeAudit(transaction, audit, { ...agent, operation: "order.place", outcome: "done", detail });
  });
  ports.wakeWorker();
  const { orderId: order_id, route, person, requestedAt: requested_at, expiresAt: expires_at } = order;
  const before = { started_at: null, ended_at: null, progress: null };
  return { order_id, route, person, requested_at, expires_at, state: "waiting", ...before };
}

function recordOf(
  codec: OrderCodec,
  now: number,
  route: RouteId,
  { person, actor, via, roles, tokenId, session }: Caller,
  input: OrderInput,
): OrderRecord & { readonly input: Buffer; readonly mac: Buffer } {
  const orderId = randomUUID();
  const sealed = codec.seal(orderId, "input", input);
  const record: OrderRecord = {
    orderId,
    route,
    person,
    actor,
    via,
    roles: [...roles],
    tokenId: tokenId ?? null,
    sessionId: session?.id ?? null,
    inputSha256: sha256(sealed),
    requestedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + BEGIN_WITHIN_MS).toISOString(),
  };
  return { ...record, input: sealed, mac: codec.sign(record) };
}

const FIRST_POLL_MS = 10;
const POLL_EVERY_MS = 200;

/**
 * Waits at most `withinMs` for the end of an order.
 * @returns the order in its state then; `undefined` if no order has the id.
 */
export async function waitForEnd(
  { pool, clock, monotonic }: AdminPorts,
  orderId: string,
  withinMs: number,
): Promise<OrderWithResult | undefined> {
  const until = monotonic.now() + withinMs;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(2 * pauseMs, POLL_EVERY_MS)) {
    const row = await findAdminOrder(pool, clock, orderId);
    const isOpen = row?.state === "waiting" || row?.state === "running";
    const leftMs = until - monotonic.now();
    if (!isOpen || leftMs <= 0) return row;
    await sleep(Math.min(pauseMs, leftMs));
  }
}
