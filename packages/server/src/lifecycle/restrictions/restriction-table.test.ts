import { expect, it } from "vitest";
import { AWAITED_LOCKS } from "../../../../../e2e/support/database.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { listEvents } from "../../store/events/list-events.ts";
import { liftRestriction, type NewRestriction, placeRestriction } from "./restriction-table.ts";

const opened = useTestSystem();

const restrictionOf = (account: string): NewRestriction => ({
  account,
  accountMac: opened.system.pseudonymizer.restrictedAccountOf(account),
  purpose: undefined,
  article: 18,
  reason: "disputed",
  approver: "J. Doe",
  requestId: undefined,
  actor: "test",
});

it("the creation of an account's first key waits for a restriction, which then hides the first event", async () => {
  const { system, owner } = opened;
  const account = "new";
  const past = new Past(system);
  const stored = await inOwnerTransaction(
    system.administration,
    async (transaction) => {
      await placeRestriction(transaction, restrictionOf(account), new Date().toISOString());
      const storing = past.store(0, { account });
      await until(async () => ((await owner.query(`select ${AWAITED_LOCKS}`)).rowCount ?? 0) > 0);
      return { storing };
    },
    () => "commit",
  );
  const { eventId } = await stored.storing;
  await past.close();
  expect(await listEvents(system.pool, { account }, 10)).toEqual([]);
  const all = await listEvents(system.pool, { account, includeRestricted: true }, 10);
  expect(all).toMatchObject([{ event_id: eventId, restricted: true }]);
});

it.each([
  [
    "whose MAC is that of another account",
    "update account_identity set account_mac = sha256('another') where account = $1",
  ],
  ["whose id is deleted", "delete from account_identity where account = $1"],
])("a restriction hides the events of an account %s", async (_, change) => {
  const { system, owner } = opened;
  const account = change;
  const past = new Past(system);
  await past.store(0, { account });
  await past.close();
  await owner.query(change, [account]);
  const placed = await inOwnerTransaction(
    system.administration,
    (transaction) => placeRestriction(transaction, restrictionOf(account), new Date().toISOString()),
    () => "commit",
  );
  expect(placed.events).toBe(1);
  expect(await listEvents(system.pool, { account }, 10)).toEqual([]);
  const lift = { informedOn: "9999-12-31", actor: "test", reason: "checked" };
  await inOwnerTransaction(
    system.administration,
    (transaction) => liftRestriction(transaction, placed.restriction_id, lift, new Date().toISOString()),
    () => "commit",
  );
  expect(await listEvents(system.pool, { account }, 10)).toHaveLength(1);
});
