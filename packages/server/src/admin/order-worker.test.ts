/** Tests of orders that processes of the admin API place and workers apply. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Role, RouteId } from "@device-risk-signals/admin-api";
import { until } from "../../../../e2e/support/embedded.ts";
import { makeCredentials } from "../../../../e2e/support/parties.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../e2e/support/use-folder.ts";
import { listAudit } from "../audit/audit.ts";
import { endSession } from "../identity/admin-sessions.ts";
import { issueAdminToken, revokeAdminToken } from "../identity/admin-tokens.ts";
import type { Caller } from "../identity/caller.ts";
import {
  deleteEndedOrders,
  endOrder,
  findAdminOrder,
  MAX_OPEN,
  recordChecked,
  type TakenOrder,
  takeOrder,
} from "../orders/admin-orders.ts";
import { tryLockSessionNamed } from "../postgres/advisory-locks.ts";
import { inOwnerTransaction, withClient } from "../postgres/database.ts";
import { LOCKS } from "../postgres/locks.ts";
import { createAdminApi } from "./admin-api.ts";
import { OrderWorker } from "./order-worker.ts";
import { placeOrder, readOrder, resultOf, sealResult } from "./operations/admin-orders.ts";
import { runErasure } from "./operations/erasures.ts";
import { readHealth } from "./operations/health.ts";
import { type AdminPorts, portsOf } from "./operations/ports.ts";

const HOUR_MS = 3_600_000;
/** An export that its worker refuses, because it names no request. */
const EXPORTED = { account: "customer-1", reason: "request 17" };
const folder = useFolder();
const scene = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: `${folder()}/journal` }));
const errors: unknown[] = [];
let ports: AdminPorts;
let worker: OrderWorker | undefined;

beforeAll(() => {
  ports = portsOf(scene.system, scene.system);
});
afterEach(async () => {
  await worker?.close();
  worker = undefined;
  expect(errors.splice(0)).toEqual([]);
});

const startWorker = (system = scene.system): void => {
  worker = new OrderWorker({ system, onError: (error) => void errors.push(error) });
};

/** A caller with a token of these roles, which was issued some hours ago. */
async function callerOf(person: string, roles: readonly Role[], hoursAgo = 3): Promise<Caller & { tokenId: string }> {
  const issuedAt = { now: () => scene.system.clock.now() - hoursAgo * HOUR_MS };
  const wanted = { person, roles, ttlMs: 24 * HOUR_MS };
  const { token_id: tokenId } = await inOwnerTransaction(scene.system.administration, (owner) =>
    issueAdminToken(owner, issuedAt, wanted),
  );
  return { person, roles, via: "api", actor: `${person} (admin token ${tokenId})`, tokenId };
}

const place = async (caller: Caller, id: RouteId = "runRetention", input: object = {}): Promise<string> =>
  (await placeOrder(ports, id, caller, { input })).order_id;
const find = async (id: string) => {
  const row = await findAdminOrder(scene.system.pool, scene.system.clock, id);
  return row && { ...row, ...(await resultOf(ports, row)) };
};
async function ended(id: string) {
  startWorker();
  await until(async () => (await find(id))?.ended_at !== null);
  return find(id);
}
const audited = async (person: string) =>
  (await listAudit(scene.system.pool, () => scene.system.secrets, { person, limit: 10 })).map(
    ({ operation, outcome, detail }) => ({ operation, outcome, order: (detail as { order_id?: string }).order_id }),
  );
/** Starts an order of a route, as a worker does that is killed afterwards. */
const start = (id: RouteId) =>
  withClient(scene.system.database, (session) => takeOrder(session, scene.system.clock, id));
async function startChecked(id: RouteId): Promise<void> {
  const order = await start(id);
  if (order) await check(order);
}
const check = (order: Pick<TakenOrder, "orderId" | "tries">): Promise<boolean> => {
  const checkedAt = new Date(scene.system.clock.now()).toISOString();
  const mac = scene.system.orders.signCheck(order.orderId, checkedAt);
  return recordChecked(scene.system.pool, order, { checkedAt, mac });
};
const checkOf = async (id: string) =>
  (await scene.owner.query("select checked_at, check_mac from drs.admin_order where order_id = $1", [id])).rows[0] as {
    readonly checked_at: Date;
    readonly check_mac: Buffer;
  };
/** Changes columns that triggers protect, as a superuser can. */
const change = (assignment: string, id: string): Promise<unknown> =>
  scene.owner.query(
    `begin; set local session_replication_role = replica;
      update drs.admin_order set ${assignment} where order_id = '${id}'; commit`,
  );

describe("an order", () => {
  it("is applied by a worker as its caller, is audited at its start and end, and is final", async () => {
    const caller = await callerOf("of-work", ["operator"]);
    const id = await place(caller);
    expect(await find(id)).toMatchObject({ state: "waiting", ended_at: null });
    expect(await ended(id)).toMatchObject({ state: "done", answer: { partitions: 0, rows: 0 } });
    expect(await audited("of-work")).toEqual([
      { operation: "retention.run", outcome: "done", order: id },
      { operation: "order.place", outcome: "done", order: id },
    ]);
    for (const changed of ["state = 'failed'", "result = null", "ended_at = null, state = 'running', input = ''"]) {
      const update = scene.owner.query(`update drs.admin_order set ${changed} where order_id = $1`, [id]);
      await expect(update).rejects.toMatchObject({ code: "23001" });
    }
  });

  it("whose answer has a secret is shown once, within five minutes, and to its person alone", async () => {
    const { pool, clock } = scene.system;
    const caller = await callerOf("of-secret", ["operator"]);
    const isKept = async (id: string): Promise<boolean> =>
      (await scene.owner.query("select from drs.admin_order where order_id = $1 and result is not null", [id]))
        .rowCount === 1;
    const read = async (of: Caller, order_id: string) =>
      (await readOrder({ ports, caller: of, scope: "full", input: { order_id } })).answer;
    const issued = async (): Promise<string> => {
      const id = await place(caller, "issueAdminToken", { person: "machine", roles: ["auditor"], ttl_ms: HOUR_MS });
      const order = await start("issueAdminToken");
      const result = await sealResult({ ...scene.system, pool }, id, { answer: { token: "a secret" } });
      if (order) await endOrder(pool, clock, order, { state: "done", result });
      return id;
    };
    const id = await issued();
    expect(await read({ ...caller, person: "other" }, id)).toMatchObject({ answer: null, problem: null });
    expect(await read({ ...caller, roles: ["analyst"] }, id)).toMatchObject({ answer: null });
    const actor = `of-secret (admin token ${randomUUID()}, obtained by other)`;
    expect(await read({ ...caller, actor }, id), "a token that another person obtained").toMatchObject({
      answer: null,
    });
    expect(await isKept(id)).toBe(true);
    expect(await read(caller, id)).toMatchObject({ answer: { token: "a secret" } });
    expect(await isKept(id)).toBe(false);
    expect(await read(caller, id)).toMatchObject({ answer: null, problem: { status: 404 } });
    const late = await issued();
    await change("ended_at = ended_at - interval '5 minutes'", late);
    expect(await read(caller, late)).toMatchObject({ answer: null, problem: { status: 404 } });
    expect(await isKept(late)).toBe(true);
    startWorker();
    await until(async () => !(await isKept(late)));
  });

  it("that fails has the problem of its operation, and is audited as failed", async () => {
    const id = await place(await callerOf("of-error", ["privacy"]), "liftHold", {
      hold_id: randomUUID(),
      reason: "dispute 4711",
    });
    expect(await ended(id)).toMatchObject({ state: "failed", problem: { status: 404, code: "not-found" } });
    expect((await audited("of-error"))[0]).toEqual({ operation: "order.end", outcome: "failed", order: id });
  });

  it.each(["person = 'other', actor = 'other (x)'", "route = 'rotateKeys'", "roles = '{privacy}'", "input = '\\x00'"])(
    "that was changed in the database is not applied, is audited and is reported by doctor: %s",
    async (assignment) => {
      const id = await place(await callerOf("of-change", ["operator"]));
      await change(assignment, id);
      expect(await ended(id)).toMatchObject({ state: "changed", problem: { status: 409, code: "order-changed" } });
      expect(errors.splice(0)).toMatchObject([{ code: "order-changed" }]);
      const entries = await listAudit(scene.system.pool, () => scene.system.secrets, { limit: 1 });
      expect(entries[0]).toMatchObject({ actor: "server", operation: "order.end", outcome: "changed" });
      const caller = await callerOf("of-health", ["operator"]);
      const { answer } = await readHealth({ ports, caller, scope: "full", input: {} });
      const finding = answer.findings.find(({ what }) => what === "orders");
      expect(finding).toMatchObject({ ok: false, detail: expect.stringContaining("changed in the database") });
    },
  );

  it("whose token was revoked before a worker began it is refused", async () => {
    const caller = await callerOf("of-revocation", ["operator"]);
    const id = await place(caller);
    await revokeAdminToken(scene.system.pool, scene.system.clock, caller.tokenId);
    expect(await ended(id)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
    expect((await audited("of-revocation"))[0]).toMatchObject({ operation: "order.end", outcome: "refused" });
  });

  it("that the admin API signed for roles without its permission is refused", async () => {
    const caller = await callerOf("of-roles", ["analyst"]);
    for (const roles of [["analyst"], ["operator"]] as const) {
      const id = await place({ ...caller, roles });
      expect(await ended(id)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
      await worker?.close();
    }
  });

  it("that the admin API signed without roles, as if it needed no approval, is refused", async () => {
    const id = await place({ ...(await callerOf("of-no-role", ["operator"])), roles: [] });
    expect(await ended(id)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
  });

  it("that the admin API signed in the name of another caller is refused", async () => {
    const caller = await callerOf("of-name", ["operator"]);
    for (const wrong of [{ via: "direct" }, { actor: "other (admin token 1)" }] as const) {
      const id = await place({ ...caller, ...wrong });
      expect(await ended(id)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
      await worker?.close();
    }
  });

  it("whose session has ended, or whose sign-in was not recent although it must be, is refused", async () => {
    const { adminSessions, pool, clock } = scene.system;
    const signIn = async (minutesAgo: number): Promise<Caller> => {
      const authenticatedAt = new Date(clock.now() - minutesAgo * 60_000).toISOString();
      const signedIn = { person: "of-session", identity: "i", roles: ["operator"], authenticatedAt } as const;
      const { sessionId: id } = await adminSessions.start(pool, clock, "login", signedIn);
      return { ...signedIn, via: "cli", actor: `of-session (login ${id})`, session: { id, authenticatedAt } };
    };
    const [recent, old, left] = [await signIn(1), await signIn(10), await signIn(1)];
    const give = (caller: Caller): Promise<string> => place(caller, "destroyKey", { version: "none", dry_run: true });
    const [fit, late, lost] = [await give(recent), await give(old), await give(left)];
    await endSession(pool, clock, left.session?.id ?? "");
    expect(await ended(fit)).toMatchObject({ state: "failed", problem: { code: "not-found" } });
    for (const id of [late, lost]) {
      await until(async () => (await find(id))?.ended_at !== null);
      expect(await find(id)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
    }
  });

  it("that was given more than an hour ago is refused", async () => {
    const clock = { now: () => scene.system.clock.now() - 2 * HOUR_MS };
    const caller = await callerOf("of-wait", ["operator"]);
    const { order_id: id } = await placeOrder({ ...ports, clock }, "runRetention", caller, { input: {} });
    expect(await find(id)).toMatchObject({ state: "expired", problem: { code: "order-refused" } });
    expect(await ended(id)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
  });

  it("whose worker was killed is started again by another one, once its lock is free, and ends once", async () => {
    const { pool, clock, database } = scene.system;
    const caller = await callerOf("of-kill", ["operator"]);
    const id = await place(caller);
    const late = { state: "failed", result: Buffer.from("") } as const;
    await withClient(database, async (session) => {
      expect(await tryLockSessionNamed(session, LOCKS.orders, "runRetention")).toBe(true);
      const first = await takeOrder(session, clock, "runRetention");
      const second = await takeOrder(session, clock, "runRetention");
      await check({ orderId: id, tries: second?.tries ?? 0 });
      expect(await endOrder(pool, clock, { orderId: id, tries: first?.tries ?? 0 }, late), "it is taken again").toBe(
        false,
      );
      startWorker();
      await place(caller, "rotateKeys", { dry_run: true });
      await until(
        async () =>
          (await pool.query("select from admin_order where state = 'done' and route = 'rotateKeys'")).rowCount === 1,
      );
      expect(await find(id), "another worker has it").toMatchObject({ state: "running" });
      await worker?.close();
    });
    // The token of the order may have been revoked in the meantime. It was valid when that worker checked the order.
    await revokeAdminToken(pool, clock, caller.tokenId);
    expect(await ended(id)).toMatchObject({ state: "done", answer: { rows: 0 } });
    expect((await audited("of-kill")).filter(({ operation }) => operation === "retention.run")).toHaveLength(1);
  });

  it("that may have taken effect before its worker was killed is not applied again", async () => {
    const hold = { account: "customer-1", reason: "dispute 4711", approver: "J. Doe", review_on: "2999-01-31" };
    const id = await place(await callerOf("of-hold", ["privacy"]), "addHold", hold);
    await startChecked("addHold");
    expect(await ended(id)).toMatchObject({ state: "failed", problem: { code: "order-interrupted" } });
    expect((await scene.owner.query("select from drs.legal_hold")).rowCount).toBe(0);
  });

  it("of an erasure that begins again erases what other erasures have not erased since then", async () => {
    const person = await callerOf("of-erasure", ["privacy"]);
    const input = { account: "of-erasure", reason: "request 17" };
    const direct = {
      ports,
      caller: { person: "x", actor: "x", via: "direct", roles: [] },
      scope: "full",
      input,
    } as const;
    await makeCredentials(scene.system, input.account);
    const id = await place(person, "runErasure", input);
    await startChecked("runErasure");
    expect((await runErasure(direct)).answer.erasure?.erasure_id).not.toBe(id);
    await makeCredentials(scene.system, input.account);
    expect(await ended(id)).toMatchObject({ state: "done", answer: { is_needed: true, erasure: { erasure_id: id } } });
    // A command on the database that erases nothing neither waits for a retention pass nor excludes one.
    await withClient(scene.system.database, async (session) => {
      await session.query(`select pg_advisory_lock(${LOCKS.maintenance})`);
      expect((await runErasure(direct)).answer).toMatchObject({ is_needed: false, erasure: { erasure_id: id } });
    });
    const entries = await listAudit(scene.system.pool, () => scene.system.secrets, { limit: 1 });
    expect(entries).toMatchObject([
      { via: "direct", operation: "erase.run", outcome: "done", detail: { only_read: true } },
    ]);
  });

  it.each(["runRetention", "addHold"] as const)(
    "whose worker was killed before it was checked is checked by the next one: %s",
    async (route) => {
      const caller = await callerOf("of-check", ["operator", "privacy"]);
      const hold = { account: "customer-1", reason: "dispute 4711", approver: "J. Doe", review_on: "2999-01-31" };
      const give = () => place(caller, route, route === "addHold" ? hold : {});
      const [first, second] = [await give(), await give()];
      for (let tries = 0; tries < 4; tries++) await start(route);
      expect(await ended(first)).not.toMatchObject({ problem: { code: "order-interrupted" } });
      await until(async () => (await find(second))?.ended_at !== null);
      await worker?.close();
      const third = await give();
      await start(route);
      await revokeAdminToken(scene.system.pool, scene.system.clock, caller.tokenId);
      expect(await ended(third)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
    },
  );

  it("that a login of the database marked as checked has not passed the checks of a worker", async () => {
    const caller = await callerOf("of-mark", ["operator"]);
    const other = await place(caller);
    await startChecked("runRetention");
    const { checked_at, check_mac } = await checkOf(other);
    expect(await ended(other)).toMatchObject({ state: "done" });
    await worker?.close();
    for (const mac of [Buffer.alloc(32), check_mac]) {
      const id = await place(caller);
      await start("runRetention");
      const mark = "update drs.admin_order set checked_at = $2, check_mac = $3 where order_id = $1";
      await scene.owner.query(mark, [id, checked_at, mac]);
      expect(await ended(id)).toMatchObject({ state: "changed", problem: { code: "order-changed" } });
      expect(errors.splice(0)).toMatchObject([{ code: "order-changed" }]);
      await worker?.close();
    }
  });

  it("that was checked can't be set to unchecked", async () => {
    const id = await place(await callerOf("of-checked", ["operator"]));
    await startChecked("runRetention");
    for (const changed of ["checked_at = null, check_mac = null", "checked_at = checked_at + interval '1 hour'"]) {
      const update = scene.owner.query(`update drs.admin_order set ${changed} where order_id = $1`, [id]);
      await expect(update).rejects.toMatchObject({ code: "23001" });
    }
    expect(await ended(id)).toMatchObject({ state: "done" });
  });

  it("of another person shows its state to people whose roles allow it, and its answer to no one else", async () => {
    const caller = await callerOf("of-answer", ["operator"]);
    const input = { order_id: await place(caller) };
    await ended(input.order_id);
    const [own, full] = [{ ...caller, person: "other" }, caller];
    await expect(readOrder({ ports, caller: own, scope: "own", input })).rejects.toMatchObject({ code: "not-found" });
    const { answer: shown } = await readOrder({ ports, caller: own, scope: "full", input });
    expect(shown).toMatchObject({ state: "done", operation: "retention.run", answer: null });
    expect((await readOrder({ ports, caller: full, scope: "own", input })).answer.answer).toMatchObject({ rows: 0 });
  });
});

describe("an order that exceeds its time limit", () => {
  it("ends with a problem, and the next order of its route waits until its operation has ended", async () => {
    const { system } = scene;
    const caller = await callerOf("of-limit", ["operator"]);
    const rotate = () => place(caller, "rotateKeys", {});
    const [first, second] = [await rotate(), await rotate()];
    // A rotation waits for this lock.
    await withClient(system.database, async (session) => {
      await session.query(`select pg_advisory_lock(${LOCKS.maintenance})`);
      startWorker({
        ...system,
        config: { ...system.config, service: { ...system.config.service, orderTimeoutMs: 50 } },
      });
      await until(async () => (await find(first))?.ended_at !== null);
      expect(await find(first)).toMatchObject({ state: "failed", problem: { code: "order-timed-out" } });
      expect(await find(second)).toMatchObject({ state: "waiting" });
    });
    await until(async () => (await find(second))?.ended_at !== null);
    expect(errors.splice(0)[0]).toMatchObject({ code: "order-timed-out" });
  });
});

describe("a call whose order was given", () => {
  it.each([
    ["with its address", "retention/runs", {}, 202],
    ["with a problem that names it, where the answer is a stream", "accounts/export", EXPORTED, 503],
  ])("is answered %s where the database is away afterwards", async (_, path, body, status) => {
    const { system } = scene;
    let isAway = false;
    const query = (...values: Parameters<typeof system.pool.query>): unknown =>
      isAway ? Promise.reject(new Error("timeout exceeded when trying to connect")) : system.pool.query(...values);
    const pool = Object.assign(Object.create(system.pool) as typeof system.pool, { query });
    const api = await createAdminApi({
      ports: { ...ports, pool, works: false, wakeWorker: () => (isAway = true) },
      document: "{}",
      isClearAllowed: true,
      onError: (error) => void errors.push(error),
    });
    const server = createServer(api).listen(0, "127.0.0.1");
    await once(server, "listening");
    const issued = await inOwnerTransaction(system.administration, (owner) =>
      issueAdminToken(owner, system.clock, { person: "of-outage", roles: ["operator", "privacy"], ttlMs: HOUR_MS }),
    );
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/v1/${path}`;
    const headers = { Authorization: `Bearer ${issued.token}`, "Content-Type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    server.close();
    const answer = await response.text();
    const [, id = ""] = /^\/admin\/v1\/orders\/(.*)$/.exec(response.headers.get("Location") ?? "") ?? [];
    expect([response.status, answer]).toEqual([status, expect.stringContaining(id)]);
    expect(errors.splice(0)).toHaveLength(1);
    expect(await ended(id)).toMatchObject({ state: status === 202 ? "done" : "failed" });
  });
});

describe("the answer of an order", () => {
  it("is not shown to the person who placed it if their roles no longer allow its operation", async () => {
    const caller = await callerOf("of-role", ["operator"]);
    const input = { order_id: await place(caller) };
    await ended(input.order_id);
    const now: Caller = { ...caller, roles: ["analyst"] };
    const { answer: shown } = await readOrder({ ports, caller: now, scope: "own", input });
    expect(shown).toMatchObject({ state: "done", answer: null });
  });
});

describe("orders", () => {
  it("of one person that no worker has applied are at most a hundred", async () => {
    const caller = await callerOf("of-flood", ["operator"]);
    const insert = `insert into drs.admin_order (order_id, route, person, actor, via, roles, token_id, input, input_sha256,
        requested_at, expires_at, mac)
      select gen_random_uuid(), 'none', 'of-flood', '', 'api', '{}', gen_random_uuid(), '', '', now(), now(), ''
      from generate_series(1, ${MAX_OPEN})`;
    await scene.owner.query(insert);
    await expect(place(caller)).rejects.toMatchObject({ problem: { status: 429 } });
    await scene.owner.query("delete from drs.admin_order where person = 'of-flood'");
  });

  it("are deleted a day after their end, and changed ones after 30 days", async () => {
    const { pool } = scene.system;
    const [old, changed, open] = [
      await place(await callerOf("of-age", ["operator"])),
      await place(await callerOf("of-age", ["operator"])),
      await place(await callerOf("of-age", ["operator"])),
    ];
    const times = "requested_at = now() - interval '26 hours', expires_at = now() - interval '25 hours'";
    await change(`${times}, state = 'done', input = null, ended_at = now() - interval '25 hours'`, old);
    await change(`${times}, state = 'changed', input = null, ended_at = now() - interval '25 hours'`, changed);
    await deleteEndedOrders(pool);
    const { rows } = await scene.owner.query("select order_id from drs.admin_order where person = 'of-age'");
    expect(rows.map(({ order_id }: { order_id: string }) => order_id).toSorted()).toEqual([changed, open].toSorted());
    await scene.owner.query("delete from drs.admin_order where person = 'of-age'");
  });

  it("can't be deleted within a day after their end, nor before they have expired, for any interval", async () => {
    const { pool } = scene.system;
    const caller = await callerOf("of-interval", ["operator"]);
    const [young, valid] = [await place(caller), await place(caller)];
    const ending = (hoursAgo: number): string =>
      `state = 'done', input = null, ended_at = now() - interval '${hoursAgo} hours'`;
    await change(`${ending(2)}, expires_at = now() - interval '2 hours'`, young);
    await change(ending(25), valid);
    await pool.query("select delete_ended_orders('-1 day')");
    const { rows } = await scene.owner.query("select order_id from drs.admin_order where person = 'of-interval'");
    expect(rows).toHaveLength(2);
  });

  it.each(["tries = tries + 2", "tries = tries - 1", "checked_at = now(), check_mac = ''"])(
    "that a stolen login of a worker tries to change are protected by the database: %s",
    async (assignment) => {
      const id = await place(await callerOf("of-theft", ["operator"]));
      await change("tries = 1, state = 'running', expires_at = now()", id);
      const update = scene.system.pool.query(`update admin_order set ${assignment} where order_id = $1`, [id]);
      await expect(update).rejects.toMatchObject({ code: "23001" });
      await scene.owner.query("delete from drs.admin_order where order_id = $1", [id]);
    },
  );
});
