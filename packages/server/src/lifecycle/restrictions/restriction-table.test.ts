import { expect, it } from "vitest";
import { AWAITED_LOCKS } from "../../../../../e2e/support/database.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { listEvents } from "../../store/events/list-events.ts";
import { placeRestriction } from "./restriction-table.ts";

const opened = useTestSystem();

it("the creation of an account's first key waits for a restriction, which then hides the first event", async () => {
  const { system, owner } = opened;
  const account = "new";
  const restriction = {
    account,
    accountMac: system.pseudonymizer.restrictedAccountOf(account),
    purpose: undefined,
    article: 18,
    reason: "disputed",
    approver: "J. Doe",
    requestId: undefined,
    actor: "test",
  } as const;
  const past = new Past(system);
  const stored = await inOwnerTransaction(
    system.administration,
    async (transaction) => {
      await placeRestriction(transaction, restriction, new Date().toISOString());
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
