import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { holdSecretName } from "../../crypto/sealer.ts";
import { inOneTransaction } from "../../postgres/database.ts";
import { copyHeldEvents, type HeldEvent } from "../holds/copy-held-events.ts";
import { placeHold } from "../holds/holds.ts";
import { lostInUse, lostSince } from "./lost-secrets.ts";

const opened = useTestSystem();
let past: Past;

beforeAll(() => {
  past = new Past(opened.system);
});

afterAll(() => past?.close());

/** @returns the id of a hold on a new account, which has a copy of its event. */
async function holdWithCopy(): Promise<string> {
  const account = randomUUID();
  const { eventId } = await past.store(0, { account });
  const subject = { of: "account", value: account } as const;
  const order = { subject, reason: "r", approver: "a", reviewOn: "2999-01-31", actor: "o" };
  const id = (await inOneTransaction(opened.owner, (transaction) => placeHold(transaction, order)))?.hold_id ?? "";
  await inOneTransaction(opened.owner, async (transaction) => {
    const text = "select account, purpose, received_at, event_id, $2::uuid as hold_id from event where event_id = $1";
    const { rows } = await opened.owner.query<HeldEvent>(text, [eventId, id]);
    expect(
      await copyHeldEvents(transaction, opened.system.sealer, () =>
        (async function* () {
          yield* rows;
        })(),
      ),
    ).toBe(1);
  });
  return id;
}

const lost = (): Promise<readonly (readonly string[])[]> =>
  Promise.all([
    lostInUse(opened.system.pool, opened.system.secrets),
    lostSince(opened.system.pool, opened.system.secrets, false),
  ]);

test("the secret of the oldest of many holds is looked for, and of a hold whose copies have no payload none is", async () => {
  const oldest = await holdWithCopy();
  for (let later = 0; later < 5; later++) await holdWithCopy();
  const name = holdSecretName(oldest);
  await opened.system.secrets.destroy(name);
  expect(await lost()).toEqual([[name], [name]]);
  await opened.owner.query("alter table held_event disable trigger all");
  await opened.owner.query("update held_event set payload = '' where hold_id = $1", [oldest]);
  expect(await lost()).toEqual([[], []]);
});
