/**
 * Applies orders of the admin API, with the logins of a worker and the roles of the order's caller. Each order ends
 * once.
 */
import { isLines, type RouteId, ROUTE_IDS, isRouteId, routeOf, scopeOf } from "@device-risk-signals/admin-api";
import type { System } from "../runtime/system.ts";
import { writeAudit } from "../audit/audit.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { findHolderById } from "../access/identity/admin-tokens.ts";
import { areTokenPeopleGiven, isSessionGiven, type RoleMapping } from "../access/identity/role-mapping.ts";
import { agentOf, type Caller, originOfSession, originOfToken } from "../access/identity/caller.ts";
import {
  deleteEndedOrders,
  deleteUnreadResults,
  endOrder,
  type EndState,
  findOpenRoutes,
  recordChecked,
  reportProgress,
  type TakenOrder,
  takeOrder,
} from "../access/orders/admin-orders.ts";
import type { OrderInput } from "../access/orders/order-codec.ts";
import { deleteParts } from "../access/orders/order-parts.ts";
import type { OnError } from "../base/ports.ts";
import { tryLockSessionNamed } from "../store/postgres/advisory-locks.ts";
import { inTransaction, inTransactionOn, withClient, withoutStatementTimeout } from "../store/postgres/database.ts";
import type { Connection, Transaction } from "../store/postgres/executor.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { orderChanged, orderExpired, type OrderResult, sealResult } from "../operations/admin-orders.ts";
import type { Operation } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operations.ts";
import { sendLines } from "../operations/order-lines.ts";
import { portsOfWorker } from "../operations/ports.ts";
import { adminErrorOf } from "../operations/problem.ts";
import { isRecent } from "../operations/recent-sign-in.ts";

const POLL_EVERY_MS = 1_000;
/**
 * Time until the next look at a route whose orders another worker applies; it is longer, because orders may take long.
 */
const LOCKED_POLL_MS = 5_000;
const DELETE_EVERY_MS = 3_600_000;
const DELETE_RESULTS_EVERY_MS = 60_000;
const REPORT_EVERY_MS = 1_000;
/** Maximum number of routes whose orders are applied at the same time, each with separate connections. */
const MAX_ROUTES = 4;
/** Maximum number of starts of an order. An order that crashes its worker is not started for ever. */
const MAX_TRIES = 3;
/** On close, running orders have this time to end. Another worker then takes the orders that have not ended. */
const CLOSE_WITHIN_MS = 5_000;
const MAX_END_TRIES = 5;

const SHOWN_ONCE = ROUTE_IDS.filter((id) => routeOf(id).isShownOnce === true);

/** How the attempt to apply an order ended. */
interface Outcome {
  readonly state: EndState;
  readonly result: OrderResult;
  /** The account whose data the result contains. */
  readonly account?: string | undefined;
  /** The code of the problem, for the audit. */
  readonly code?: string | undefined;
}

export interface OrderWorkerOptions {
  readonly system: System;
  /** Absent if the configuration names none. */
  readonly roleFile?: { readonly current: RoleMapping } | undefined;
  readonly onError: OnError;
}

/** Looks for orders every second, and when it is woken. */
export class OrderWorker {
  readonly #system: System;
  readonly #roleFile: OrderWorkerOptions["roleFile"];
  readonly #onError: OnError;
  readonly #timer: NodeJS.Timeout;
  /** Running work, by route. */
  readonly #running = new Map<string, Promise<void>>();
  /**
   * Routes that wait, because another worker applies their orders or after an error, with the time of the next look.
   */
  readonly #nextLooks = new Map<string, number>();
  #deletedAt = -Infinity;
  #deletedResultsAt = -Infinity;
  #looking: Promise<unknown> | undefined;
  #isWoken = false;
  #isFailing = false;
  #isClosed = false;

  constructor({ system, roleFile, onError }: OrderWorkerOptions) {
    this.#system = system;
    this.#roleFile = roleFile;
    this.#onError = onError;
    this.#timer = setInterval(() => this.wake(), POLL_EVERY_MS);
    this.#timer.unref();
    this.wake();
  }

  /** Looks for orders now. */
  wake(): void {
    this.#isWoken = true;
    this.#looking ??= this.#look()
      .then(() => (this.#isFailing = false))
      .catch((error: unknown) => {
        // If the database is unavailable for an hour, the log has one line about it.
        if (!this.#isFailing && !this.#isClosed) this.#onError(error, "find orders");
        this.#isFailing = true;
      })
      .then(() => (this.#looking = undefined));
  }

  /** Begins no more orders, and waits a short time for the running ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#looking;
    await Promise.race([Promise.all(this.#running.values()), waitMs(CLOSE_WITHIN_MS)]);
  }

  async #look(): Promise<void> {
    while (this.#isWoken && !this.#isClosed) {
      this.#isWoken = false;
      const now = performance.now();
      if (now - this.#deletedAt > DELETE_EVERY_MS) {
        this.#deletedAt = now;
        await deleteEndedOrders(this.#system.pool);
      }
      if (now - this.#deletedResultsAt > DELETE_RESULTS_EVERY_MS) {
        this.#deletedResultsAt = now;
        await deleteUnreadResults(this.#system.pool, this.#system.clock, SHOWN_ONCE);
      }
      for (const route of await findOpenRoutes(this.#system.pool)) {
        const isFree = !this.#running.has(route) && (this.#nextLooks.get(route) ?? 0) <= now;
        if (isFree && this.#running.size < MAX_ROUTES) this.#begin(route);
      }
    }
  }

  #begin(route: string): void {
    const work = this.#applyAll(route)
      .then((isLocked) => {
        if (isLocked) this.#nextLooks.delete(route);
        else this.#nextLooks.set(route, performance.now() + LOCKED_POLL_MS);
      })
      .catch((error: unknown) => {
        this.#nextLooks.set(route, performance.now() + POLL_EVERY_MS);
        if (!this.#isClosed) this.#onError(error, "apply orders");
      })
      .finally(() => {
        this.#running.delete(route);
        // An order may have been placed after the last look.
        this.wake();
      });
    this.#running.set(route, work);
  }

  /** Applies all orders of a route. @returns `false` if another worker is applying orders of the route. */
  #applyAll(route: string): Promise<boolean> {
    const { database, clock } = this.#system;
    return withClient(withoutStatementTimeout(database), async (session) => {
      // guard(false): one worker at a time applies orders of a route
      if (!(await tryLockSessionNamed(session, LOCKS.orders, route))) return false;
      for (;;) {
        const order = this.#isClosed ? undefined : await takeOrder(session, clock, route);
        if (!order) return true;
        await this.#applyAndEnd(session, order);
      }
    });
  }

  /**
   * Applies an order. An order can end before its operation, by the time limit; the next order of the route still waits
   * for the operation.
   */
  async #applyAndEnd(session: Connection, order: TakenOrder): Promise<void> {
    const limit = new TimeLimit(this.#system.config.service.orderTimeoutMs);
    const work = this.#apply(order, limit);
    try {
      await this.#end(session, order, await Promise.race([work, limit.over.then(() => this.#timedOut())]));
    } finally {
      limit.clear();
      await work;
    }
  }

  #timedOut(): Outcome {
    const error = timedOut(this.#system.config.service.orderTimeoutMs);
    this.#onError(error, "apply order");
    return this.#outcomeOf("failed", error);
  }

  async #end(session: Connection, order: TakenOrder, outcome: Outcome): Promise<void> {
    const { pool } = this.#system;
    const { state, result, account, code } = outcome;
    // If the order failed because this process is stopping, the next worker starts the order again.
    if (this.#isClosed && state === "failed" && isRepeatable(order, this.#inputOf(order).input)) return;
    const end = { state, result: await sealResult(this.#system, order.orderId, result, account) };
    const work = async (transaction: Transaction): Promise<void> => {
      const isEnded = await endOrder(transaction, this.#system.clock, order, end);
      if (isEnded && state !== "done") await this.#auditEnd(transaction, order, state, code);
    };
    if (isStream(order)) await deleteParts(pool, order.orderId);
    for (let left = MAX_END_TRIES; ; left--) {
      try {
        return await (left === MAX_END_TRIES ? inTransactionOn(session, work) : inTransaction(pool, work));
      } catch (error) {
        if (left === 1 || this.#isClosed) throw error;
        await waitMs(REPORT_EVERY_MS);
      }
    }
  }

  async #apply(order: TakenOrder, limit: TimeLimit): Promise<Outcome> {
    const { orders } = this.#system;
    // guard(false): an order that was changed in the database is not applied
    if (!orders.isSigned(order, order.input, order.mac)) return this.#outcomeOf("changed", orderChanged());
    // guard(false): only the signature of a worker shows that an order was checked
    if (order.check && !orders.isCheckSigned(order.orderId, order.check))
      return this.#outcomeOf("changed", orderChanged());
    const sealed = this.#inputOf(order);
    // guard(true): an order that a worker has started but not checked is checked
    const refusal = order.check ? interrupted(order, sealed.input) : await this.#check(order);
    if (refusal) return this.#outcomeOf(order.check ? "failed" : "refused", refusal);
    try {
      // An earlier worker of the order may have written an erasure to the journal before its transaction failed.
      // guard(drop): an erasure that is started again finds itself in the database
      if (order.check && isErasing(order, sealed.input)) await this.#system.replay();
      // An operation does not begin after its order has ended.
      if (limit.isOver) throw timedOut(this.#system.config.service.orderTimeoutMs);
      const { answer, account } = await this.#perform(order, sealed, limit);
      return { state: "done", result: { answer }, account };
    } catch (error) {
      const { shown, unexpected } = adminErrorOf(error);
      if (unexpected !== undefined && !this.#isClosed && !limit.isOver)
        this.#onError(unexpected, `apply order of ${order.route}`);
      return { state: "failed", result: { problem: shown.problem }, code: shown.problem.code };
    }
  }

  /** Opens the input, which a process of the admin API has sealed. */
  #inputOf({ orderId, input }: TakenOrder): OrderInput {
    return (this.#system.orders.open(orderId, "input", input) as OrderInput | undefined) ?? { input: {} };
  }

  /** Runs the operation of an order for the caller of the order. The audit entries of the operation name the order. */
  async #perform(
    order: TakenOrder,
    { input, reader_key: readerKey = "" }: OrderInput,
    limit: TimeLimit,
  ): Promise<{ readonly answer: unknown; readonly account?: string | undefined }> {
    const id = order.route as RouteId;
    const { permission, operation, answer: schema } = routeOf(id);
    const caller = callerOf(order);
    const { pool, orders, audit: signer } = this.#system;
    const ports = portsOfWorker(this.#system, this.#reporter(order, limit));
    const parts = isLines(schema) ? orders.partWriter(Buffer.from(readerKey, "base64url")) : undefined;
    // The schemas of the route have checked the input.
    const perform = OPERATIONS[id] as unknown as Operation<RouteId>;
    const scope = scopeOf(permission, caller.roles);
    if (!scope) throw new Error(`an order of ${id} was not checked`);
    const { answer, audit } = await perform({ ports, caller, scope, input });
    const entry = { ...agentOf(caller), operation, outcome: "done" };
    if (audit) await writeAudit(pool, signer, { ...entry, ...audit });
    if (!parts) return { answer, account: audit?.account };
    await sendLines(pool, { orderId: order.orderId, parts }, answer as AsyncIterable<unknown>);
    return { answer: null };
  }

  /**
   * Records lines of progress, at most one a second. When the time of the order is over, the next line ends the
   * operation.
   */
  #reporter(order: TakenOrder, limit: TimeLimit): (line: string) => void {
    let reportedAt = -Infinity;
    return (line) => {
      if (limit.isOver) throw timedOut(this.#system.config.service.orderTimeoutMs);
      if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = performance.now();
      reportProgress(this.#system.pool, order, line).catch((error: unknown) => this.#onError(error, "report progress"));
    };
  }

  /**
   * Checks an order, and if it is not rejected, records in the database that it was checked, before it has an effect.
   * @returns the error if the order is rejected.
   */
  async #check(order: TakenOrder): Promise<OperatorError | undefined> {
    const { pool, clock, orders } = this.#system;
    const refusal = await this.#refusalOf(order);
    const checkedAt = new Date(clock.now()).toISOString();
    const check = { checkedAt, mac: orders.signCheck(order.orderId, checkedAt) };
    if (!refusal && !(await recordChecked(pool, order, check))) {
      throw new Error("another worker has started the order again");
    }
    return refusal;
  }

  /**
   * Checks the caller by what the database says, and not by what the process of the admin API wrote.
   * @returns the error if the caller may not place this order, or if the order has expired or its route is unknown.
   */
  async #refusalOf(order: TakenOrder): Promise<OperatorError | undefined> {
    const { route, person, roles, requestedAt, expiresAt } = order;
    // guard(false): an order of an hour ago is not started
    if (Date.parse(expiresAt) <= this.#system.clock.now()) return orderExpired();
    if (!isRouteId(route)) return refused("This worker does not know its operation: update the worker.");
    const holder = await this.#holderOf(order);
    // guard(false): an order needs a credential that is active
    if (holder?.person !== person) return refused("The session or token of its caller has ended or was revoked.");
    // guard(false): an order is of the caller that the database knows: a command on the database needs no approval
    if (holder.via !== order.via || holder.actor !== order.actor) return refused("Its caller has another name.");
    const { permission, recentSignIn } = routeOf(route);
    const granted = holder.roles.filter((one) => roles.some((role) => role === one));
    // guard(false): an order needs the permission of its route
    if (granted.length < roles.length || !scopeOf(permission, granted)) {
      return refused(`No role of its caller has the permission ${permission}.`);
    }
    const { authenticatedAt } = holder;
    if (recentSignIn !== true || authenticatedAt === undefined) return undefined;
    // guard(true): an order that needs a recent sign-in is refused if the sign-in in the database was not recent
    const wasRecent = authenticatedAt !== null && isRecent(Date.parse(authenticatedAt), Date.parse(requestedAt));
    return wasRecent ? undefined : refused("The sign-in of its caller was not recent.");
  }

  async #holderOf({ tokenId, sessionId, requestedAt }: TakenOrder): Promise<Holder | undefined> {
    const { pool, adminSessions } = this.#system;
    const mapping = this.#roleFile?.current;
    if (tokenId !== null) {
      const holder = await findHolderById(pool, tokenId, requestedAt);
      // guard: an order of a person who was removed from the role file is not applied
      if (!holder || (mapping && !areTokenPeopleGiven(mapping, holder))) return undefined;
      return { ...holder, ...originOfToken(holder.person, tokenId, holder.obtained_by) };
    }
    const session = await adminSessions.findById(pool, sessionId ?? "", requestedAt);
    // guard: an order of a session whose person or roles the role file does not give now is not applied
    if (!session || (mapping && !isSessionGiven(mapping, session))) return undefined;
    return { ...session, ...originOfSession(session.person, session.kind, session.sessionId) };
  }

  #outcomeOf(state: EndState, error: OperatorError): Outcome {
    if (state === "changed") this.#onError(error, "apply order");
    return { state, result: { problem: adminErrorOf(error).shown.problem }, code: error.code };
  }

  /**
   * Audits the end of an order that did not succeed. For an order that is done, the operation or `#perform` has written
   * an entry.
   */
  async #auditEnd(
    transaction: Transaction,
    order: TakenOrder,
    outcome: EndState,
    code: string | undefined,
  ): Promise<void> {
    const { audit } = this.#system;
    // No data of a changed order can be trusted.
    const agent =
      outcome === "changed"
        ? ({ actor: "server", via: "server", orderId: order.orderId } as const)
        : agentOf(callerOf(order));
    const detail = { of: isRouteId(order.route) ? routeOf(order.route).operation : order.route, code };
    await writeAudit(transaction, audit, { ...agent, operation: "order.end", outcome, detail });
  }
}

/** The caller of an order, as the database knows the holder of the credential. */
type Holder = Pick<Caller, "person" | "roles" | "via" | "actor"> & {
  /** The time of the person's authentication; absent if the credential is a token. */
  readonly authenticatedAt?: string | null;
};

const refused = (why: string): OperatorError =>
  new OperatorError("order-refused", `The worker refused the order. ${why}`);

const timedOut = (limitMs: number): OperatorError =>
  new OperatorError(
    "order-timed-out",
    `The order took longer than DRS_ORDER_TIMEOUT, which is ${limitMs / 1_000} seconds. Its operation may still complete: ` +
      "see whether it took effect before you give it again.",
  );

/** The time limit of an order. */
class TimeLimit {
  readonly over: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(limitMs: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      resolve();
    }, limitMs);
    this.#timer.unref();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * The error of an order that a worker had started and that is not started again; `undefined` if it is started again.
 */
function interrupted(order: TakenOrder, input: object): OperatorError | undefined {
  // guard(true): an order that may have taken effect is not applied again
  if (order.tries <= MAX_TRIES && isRepeatable(order, input)) return undefined;
  return new OperatorError(
    "order-interrupted",
    "A worker ended while it applied the order: see whether it took effect before you give it again.",
  );
}

const isRepeatable = ({ route }: TakenOrder, { dry_run: isDryRun = false }: { readonly dry_run?: boolean }): boolean =>
  isDryRun || (isRouteId(route) && routeOf(route).isRepeatable === true);

const isErasing = ({ route }: TakenOrder, { dry_run: isDryRun = false }: { readonly dry_run?: boolean }): boolean =>
  route === "runErasure" && !isDryRun;

const isStream = ({ route }: TakenOrder): boolean => isRouteId(route) && isLines(routeOf(route).answer);

const callerOf = ({ person, actor, via, roles, sessionId, tokenId, orderId }: TakenOrder): Caller => ({
  person,
  actor,
  via: via as Caller["via"],
  roles: roles as Caller["roles"],
  orderId,
  ...(tokenId !== null && { tokenId }),
  ...(sessionId !== null && { session: { id: sessionId, authenticatedAt: null } }),
});

const waitMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
