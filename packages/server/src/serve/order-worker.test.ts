/** Tests of workers that apply orders of the admin API, also when other workers are killed or slow. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { until } from "../../../../e2e/support/embedded.ts";
import { makeCredentials } from "../../../../e2e/support/parties.ts";
import { listAudit } from "../audit/audit.ts";
import { revokeAdminToken } from "../access/identity/admin-tokens.ts";
import { endOrder, takeOrder } from "../access/orders/admin-orders.ts";
import { tryLockSessionNamed } from "../store/postgres/advisory-locks.ts";
import { withClient } from "../store/postgres/database.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { useOrderScene } from "../http/admin/order-scene.fixture.ts";
import { runErasure } from "../operations/erasures.ts";

const {
  scene,
  errors,
  ports,
  startWorker,
  stopWorker,
  callerOf,
  place,
  find,
  ended,
  audited,
  take,
  takeChecked,
  check,
} = useOrderScene();

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

  it("that fails has the problem of its operation, and is audited as failed", async () => {
    const id = await place(await callerOf("of-error", ["privacy"]), "liftHold", {
      hold_id: randomUUID(),
      reason: "dispute 4711",
    });
    expect(await ended(id)).toMatchObject({ state: "failed", problem: { status: 404, code: "not-found" } });
    expect((await audited("of-error"))[0]).toEqual({ operation: "order.end", outcome: "failed", order: id });
  });

  it("whose worker was killed is started again by another worker when the lock is free, and ends once", async () => {
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
      await stopWorker();
    });
    // The token of the order may have been revoked in the meantime. The token was valid when the killed worker checked
    // the order.
    await revokeAdminToken(pool, clock, caller.tokenId);
    expect(await ended(id)).toMatchObject({ state: "done", answer: { rows: 0 } });
    expect((await audited("of-kill")).filter(({ operation }) => operation === "retention.run")).toHaveLength(1);
  });

  it("that may have taken effect before its worker was killed is not applied again", async () => {
    const hold = { account: "customer-1", reason: "dispute 4711", approver: "J. Doe", review_on: "2999-01-31" };
    const id = await place(await callerOf("of-hold", ["privacy"]), "addHold", hold);
    await takeChecked("addHold");
    expect(await ended(id)).toMatchObject({ state: "failed", problem: { code: "order-interrupted" } });
    expect((await scene.owner.query("select from drs.legal_hold")).rowCount).toBe(0);
  });

  it("of an erasure that is started again erases only what other erasures have left", async () => {
    const person = await callerOf("of-erasure", ["privacy"]);
    const input = { account: "of-erasure", reason: "request 17" };
    const direct = {
      ports: ports(),
      caller: { person: "x", actor: "x", via: "direct", roles: [] },
      scope: "full",
      input,
    } as const;
    await makeCredentials(scene.system, input.account);
    const id = await place(person, "runErasure", input);
    await takeChecked("runErasure");
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
      for (let tries = 0; tries < 4; tries++) await take(route);
      expect(await ended(first)).not.toMatchObject({ problem: { code: "order-interrupted" } });
      await until(async () => (await find(second))?.ended_at !== null);
      await stopWorker();
      const third = await give();
      await take(route);
      await revokeAdminToken(scene.system.pool, scene.system.clock, caller.tokenId);
      expect(await ended(third)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
    },
  );
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
