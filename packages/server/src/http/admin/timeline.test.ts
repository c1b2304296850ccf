import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Role, ROLE_NAMES, scopeOf } from "@device-risk-signals/admin-api";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { deleteEvents, deleteLedgerRows } from "../../store/events/ledger.ts";
import { insertTombstones } from "../../store/events/tombstones.ts";
import { placeRestriction } from "../../lifecycle/restrictions/restriction-table.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
let past: Past;

beforeAll(() => void (past = new Past(scene.system)));
afterAll(() => past?.close());

const READERS = ROLE_NAMES.filter((role) => scopeOf("events.timeline", [role]) !== undefined);

async function timelineFor(role: Role, { account, idempotencyKey: idempotency_key }: PastEvent) {
  return (await listener.client([role])).call("readTimeline", { account, idempotency_key });
}

describe("the timeline of an idempotency key through the admin API", () => {
  it("says whether the event is still stored", async () => {
    const event = await past.store(1, { account: "kept" });
    expect(await timelineFor("analyst", event)).toMatchObject({ event_id: event.eventId, state: "stored" });
    await scene.owner.query("delete from event where event_id = $1", [event.eventId]);
    expect(await timelineFor("analyst", event)).toMatchObject({ event_id: event.eventId, state: "expired" });
  });

  it("shows an expired event of a restricted account to the role privacy alone", async () => {
    const event = await past.store(1, { account: "restricted" });
    const { administration, clock, pseudonymizer } = scene.system;
    const accountMac = pseudonymizer.restrictedAccountOf(event.account);
    const order = { purpose: undefined, article: 18, approver: "J. Doe", requestId: undefined } as const;
    await inOwnerTransaction(administration, (owner) =>
      placeRestriction(
        owner,
        { ...order, account: event.account, accountMac, reason: "disputed", actor: "test" },
        new Date(clock.now()).toISOString(),
      ),
    );
    for (const isExpired of [false, true]) {
      if (isExpired) await scene.owner.query("delete from event where event_id = $1", [event.eventId]);
      for (const role of READERS.filter((one) => one !== "privacy")) {
        await expect(timelineFor(role, event), role).rejects.toMatchObject({ code: "not-found" });
      }
      expect(await timelineFor("privacy", event)).toMatchObject({ state: isExpired ? "expired" : "stored" });
    }
  });

  it("tells the roles that see erasures that the event is erased, and no other role that there was one", async () => {
    const event = await past.store(1, { account: "erased" });
    await inOwnerTransaction(scene.system.administration, async (owner) => {
      const rows = await deleteLedgerRows(owner, [event.eventId]);
      await insertTombstones(owner, scene.system.pseudonymizer, rows);
      await deleteEvents(owner, rows);
    });
    for (const role of READERS.filter((one) => one !== "privacy")) {
      await expect(timelineFor(role, event), role).rejects.toMatchObject({ code: "not-found" });
    }
    const shown = await timelineFor("privacy", event);
    expect(shown).toMatchObject({ event_id: null, state: "erased", entries: [] });
    expect(Date.parse(shown.erased_at ?? "")).toBeLessThanOrEqual(scene.system.clock.now());
    const other = { ...event, account: "another" };
    await expect(timelineFor("privacy", other)).rejects.toMatchObject({ code: "not-found" });
  });
});
