import { MAX_TAIL } from "@device-risk-signals/admin-api";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
let ids: string[];

beforeAll(async () => {
  const past = new Past(scene.system);
  ids = [];
  for (const account of ["a", "b", "a"]) ids.push((await past.store(0, { account })).eventId);
  await past.close();
});
beforeEach(() => listener.pass(60_000));

const ago = (ms: number): string => new Date(scene.system.clock.now() - ms).toISOString();

async function entries(): Promise<number> {
  const { rows } = await scene.owner.query<{ count: string }>(
    "select count(*) from audit_entry where operation = 'event.tail' and outcome = 'done'",
  );
  return Number(rows[0]?.count);
}

describe("the tail of events", () => {
  it("has the events since a time, newest first, by filter", async () => {
    const client = await listener.client(["analyst"]);
    const { events, more } = await client.call("tailEvents", { since: ago(3_600_000) });
    expect(events.map(({ event_id }) => event_id)).toEqual(ids.toReversed());
    expect(more).toBe(false);
    const of = await client.call("tailEvents", { since: ago(3_600_000), account: "b" });
    expect(of.events.map(({ account }) => account)).toEqual(["b"]);
    expect((await client.call("tailEvents", { since: ago(-1_000) })).events).toEqual([]);
  });

  it("is audited once per person, filter and ten minutes", async () => {
    const [ann, ben] = await Promise.all(["ann", "ben"].map((person) => listener.client(["investigator"], { person })));
    const before = await entries();
    for (let count = 0; count < 5; count++) await ann?.call("tailEvents", { since: ago(5_000) });
    expect(await entries()).toBe(before + 1);
    await ann?.call("tailEvents", { since: ago(5_000), account: "a" });
    await ben?.call("tailEvents", { since: ago(5_000) });
    expect(await entries()).toBe(before + 3);
    listener.pass(600_000);
    await ann?.call("tailEvents", { since: ago(5_000) });
    expect(await entries()).toBe(before + 4);
  });

  it("is audited by the next call if the entry of the first could not be written", async () => {
    const client = await listener.client(["analyst"], { person: "cleo" });
    const before = await entries();
    await scene.owner.query(
      `create function refuse_tail() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
        create trigger refuse_tail before insert on audit_entry for each row
          when (new.operation = 'event.tail') execute function refuse_tail()`,
    );
    await expect(client.call("tailEvents", { since: ago(5_000) })).rejects.toMatchObject({ status: 500 });
    await scene.owner.query("drop trigger refuse_tail on audit_entry; drop function refuse_tail()");
    listener.errors.length = 0;
    await client.call("tailEvents", { since: ago(5_000) });
    expect(await entries()).toBe(before + 1);
  });

  it("shows an operator pseudonyms, and takes no name from one", async () => {
    const client = await listener.client(["operator"]);
    const { events } = await client.call("tailEvents", { since: ago(3_600_000) });
    expect(events).toHaveLength(3);
    expect(events.map(({ account }) => account)).not.toContain("a");
    await expect(client.call("tailEvents", { since: ago(5_000), account: "a" })).rejects.toThrow("pseudonym");
  });

  it("is of the last day", async () => {
    const client = await listener.client(["analyst"]);
    await expect(client.call("tailEvents", { since: ago(86_500_000) })).rejects.toMatchObject({
      code: "request-invalid",
    });
    await expect(client.call("tailEvents", { since: "yesterday" })).rejects.toMatchObject({ code: "request-invalid" });
  });

  it("says that older ones are left out", async () => {
    const past = new Past(scene.system);
    for (let count = 0; count <= MAX_TAIL; count++) await past.store(0, { account: "many" });
    await past.close();
    const client = await listener.client(["analyst"]);
    const { events, more } = await client.call("tailEvents", { since: ago(3_600_000), account: "many" });
    expect(events).toHaveLength(MAX_TAIL);
    expect(more).toBe(true);
  });
});
