/** Tests of the checks that a worker makes before it applies an order of the admin API. */
import { describe, expect, it } from "vitest";
import { until } from "../../../../../e2e/support/embedded.ts";
import { listAudit } from "../../audit/audit.ts";
import { endSession } from "../../access/identity/admin-sessions.ts";
import { recordListed, revokeAdminToken } from "../../access/identity/admin-tokens.ts";
import { readRoleMapping } from "../../access/identity/role-mapping.ts";
import type { Caller } from "../../access/identity/caller.ts";
import { HOUR_MS, useOrderScene } from "./order-scene.fixture.ts";
import { placeOrder } from "../../operations/admin-orders.ts";
import { readHealth } from "../../operations/health.ts";

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
  change,
} = useOrderScene();

const checkOf = async (id: string) =>
  (await scene.owner.query("select checked_at, check_mac from drs.admin_order where order_id = $1", [id])).rows[0] as {
    readonly checked_at: Date;
    readonly check_mac: Buffer;
  };

describe("an order", () => {
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
      const { answer } = await readHealth({ ports: ports(), caller, scope: "full", input: {} });
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
      await stopWorker();
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
      await stopWorker();
    }
  });

  it("whose session has ended, or whose sign-in was not recent although it must be, is refused", async () => {
    const { adminSessions, pool, clock } = scene.system;
    const signIn = async (minutesAgo: number): Promise<Caller> => {
      const authenticatedAt = new Date(clock.now() - minutesAgo * 60_000).toISOString();
      const signedIn = {
        person: "of-session",
        identity: "i",
        roles: ["operator"],
        grants: [],
        authenticatedAt,
      } as const;
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

  it("of a person or a session that the role file no longer gives is refused", async () => {
    const file = readRoleMapping("roles: { staff: [operator] }");
    if (!file.ok) throw new Error(file.problems.join("\n"));
    const { adminSessions, pool, clock } = scene.system;
    const signedIn = {
      person: "of-file",
      identity: "i",
      roles: ["operator"],
      grants: [],
      authenticatedAt: null,
    } as const;
    const { sessionId: id } = await adminSessions.start(pool, clock, "login", signedIn);
    const session = { id, authenticatedAt: null };
    const ofSession = await place({ ...signedIn, via: "cli", actor: `of-file (login ${id})`, session }, "runRetention");
    const ofToken = await place(await callerOf("of-former", ["operator"]), "runRetention");
    const ofMachine = await place(await callerOf("of-machine", ["operator"]), "runRetention");
    await recordListed(pool, ["of-former"]);
    startWorker(scene.system, file.mapping);
    for (const order of [ofSession, ofToken, ofMachine])
      await until(async () => (await find(order))?.ended_at !== null);
    const refused = { state: "refused", problem: { code: "order-refused" } };
    expect(await Promise.all([ofSession, ofToken].map(find))).toMatchObject([refused, refused]);
    expect(await find(ofMachine)).toMatchObject({ state: "done" });
  });

  it("that was given more than an hour ago is refused", async () => {
    const clock = { now: () => scene.system.clock.now() - 2 * HOUR_MS };
    const caller = await callerOf("of-wait", ["operator"]);
    const { order_id: id } = await placeOrder({ ...ports(), clock }, "runRetention", caller, { input: {} });
    expect(await find(id)).toMatchObject({ state: "expired", problem: { code: "order-refused" } });
    expect(await ended(id)).toMatchObject({ state: "refused", problem: { code: "order-refused" } });
  });

  it("that a login of the database marked as checked has not passed the checks of a worker", async () => {
    const caller = await callerOf("of-mark", ["operator"]);
    const other = await place(caller);
    await takeChecked("runRetention");
    const { checked_at, check_mac } = await checkOf(other);
    expect(await ended(other)).toMatchObject({ state: "done" });
    await stopWorker();
    for (const mac of [Buffer.alloc(32), check_mac]) {
      const id = await place(caller);
      await take("runRetention");
      const mark = "update drs.admin_order set checked_at = $2, check_mac = $3 where order_id = $1";
      await scene.owner.query(mark, [id, checked_at, mac]);
      expect(await ended(id)).toMatchObject({ state: "changed", problem: { code: "order-changed" } });
      expect(errors.splice(0)).toMatchObject([{ code: "order-changed" }]);
      await stopWorker();
    }
  });

  it("that was checked can't become unchecked again", async () => {
    const id = await place(await callerOf("of-checked", ["operator"]));
    await takeChecked("runRetention");
    for (const changed of ["checked_at = null, check_mac = null", "checked_at = checked_at + interval '1 hour'"]) {
      const update = scene.owner.query(`update drs.admin_order set ${changed} where order_id = $1`, [id]);
      await expect(update).rejects.toMatchObject({ code: "23001" });
    }
    expect(await ended(id)).toMatchObject({ state: "done" });
  });
});
