/** Tests of who sees an order of the admin API and its answer, and for how long. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { until } from "../../../../../e2e/support/embedded.ts";
import { issueAdminToken } from "../../access/identity/admin-tokens.ts";
import type { Caller } from "../../access/identity/caller.ts";
import { deleteEndedOrders, endOrder, MAX_OPEN } from "../../access/orders/admin-orders.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { createAdminApi } from "./admin-api.ts";
import { HOUR_MS, useOrderScene } from "./order-scene.fixture.ts";
import { readOrder, sealResult } from "../../operations/admin-orders.ts";

const { scene, errors, ports, startWorker, callerOf, place, ended, take, change } = useOrderScene();

describe("an order", () => {
  it("whose answer has a secret is shown once, within five minutes, and to its person alone", async () => {
    const { pool, clock } = scene.system;
    const caller = await callerOf("of-secret", ["operator"]);
    const isKept = async (id: string): Promise<boolean> =>
      (await scene.owner.query("select from drs.admin_order where order_id = $1 and result is not null", [id]))
        .rowCount === 1;
    const read = async (of: Caller, order_id: string) =>
      (await readOrder({ ports: ports(), caller: of, scope: "full", input: { order_id } })).answer;
    const issued = async (): Promise<string> => {
      const id = await place(caller, "issueAdminToken", { person: "machine", roles: ["auditor"], ttl_ms: HOUR_MS });
      const order = await take("issueAdminToken");
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

  it("of another person shows its state to people whose roles allow it, but never its answer", async () => {
    const caller = await callerOf("of-answer", ["operator"]);
    const input = { order_id: await place(caller) };
    await ended(input.order_id);
    const [own, full] = [{ ...caller, person: "other" }, caller];
    await expect(readOrder({ ports: ports(), caller: own, scope: "own", input })).rejects.toMatchObject({
      code: "not-found",
    });
    const { answer: shown } = await readOrder({ ports: ports(), caller: own, scope: "full", input });
    expect(shown).toMatchObject({ state: "done", operation: "retention.run", answer: null });
    expect((await readOrder({ ports: ports(), caller: full, scope: "own", input })).answer.answer).toMatchObject({
      rows: 0,
    });
  });
});

describe("the answer of an order", () => {
  it("is not shown to the person who placed it if their roles no longer allow its operation", async () => {
    const caller = await callerOf("of-role", ["operator"]);
    const input = { order_id: await place(caller) };
    await ended(input.order_id);
    const now: Caller = { ...caller, roles: ["analyst"] };
    const { answer: shown } = await readOrder({ ports: ports(), caller: now, scope: "own", input });
    expect(shown).toMatchObject({ state: "done", answer: null });
  });
});

/** An export that the worker rejects, because the export names no request. */
const EXPORTED = { account: "customer-1", reason: "request 17" };

describe("a call whose order was given", () => {
  it.each([
    ["with the address of the order", "retention/runs", {}, 202],
    ["with a problem that names the order, if the answer is a stream", "accounts/export", EXPORTED, 503],
  ])("is answered %s, although the database is away afterwards", async (_, path, body, status) => {
    const { system } = scene;
    let isAway = false;
    const query = (...values: Parameters<typeof system.pool.query>): unknown =>
      isAway ? Promise.reject(new Error("timeout exceeded when trying to connect")) : system.pool.query(...values);
    const pool = Object.assign(Object.create(system.pool) as typeof system.pool, { query });
    const api = await createAdminApi({
      ports: { ...ports(), pool, usesOwnerLogin: false, wakeWorker: () => (isAway = true) },
      document: "{}",
      isClearAllowed: true,
      onFalseCredential: () => {},
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

describe("orders", () => {
  it("of one person are limited to a hundred that no worker has applied", async () => {
    const caller = await callerOf("of-flood", ["operator"]);
    const insert = `insert into drs.admin_order (order_id, route, person, actor, via, roles, token_id, input, input_sha256,
        requested_at, expires_at, mac)
      select gen_random_uuid(), 'none', 'of-flood', '', 'api', '{}', gen_random_uuid(), '', '', date_trunc('second', now()), now(), ''
      from generate_series(1, ${MAX_OPEN})`;
    await scene.owner.query(insert);
    await expect(place(caller)).rejects.toMatchObject({ problem: { status: 429 } });
    await scene.owner.query("delete from drs.admin_order where person = 'of-flood'");
  });

  it("are deleted a day after their end, or 30 days after it if they ended as `changed`", async () => {
    const { pool } = scene.system;
    const [old, changed, open] = [
      await place(await callerOf("of-age", ["operator"])),
      await place(await callerOf("of-age", ["operator"])),
      await place(await callerOf("of-age", ["operator"])),
    ];
    const times = "requested_at = requested_at - interval '26 hours', expires_at = now() - interval '25 hours'";
    await change(`${times}, state = 'done', input = null, ended_at = now() - interval '25 hours'`, old);
    await change(`${times}, state = 'changed', input = null, ended_at = now() - interval '25 hours'`, changed);
    await deleteEndedOrders(pool);
    const { rows } = await scene.owner.query("select order_id from drs.admin_order where person = 'of-age'");
    expect(rows.map(({ order_id }: { order_id: string }) => order_id).toSorted()).toEqual([changed, open].toSorted());
    await scene.owner.query("delete from drs.admin_order where person = 'of-age'");
  });

  it("can't be deleted within a day after their end, nor before they have expired, for any interval that a caller gives", async () => {
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
