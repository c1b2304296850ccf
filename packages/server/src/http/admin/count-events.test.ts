/** Tests of the numbers of events by time: who may count, what is counted, and the audit entry. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Input } from "@device-risk-signals/admin-api";
import { Past } from "../../../../../e2e/support/past-event.ts";
import { runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { listAudit } from "../../audit/audit.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const scene = useTestSystem();
const listener = useAdminListener(() => scene.system);
let past: Past;

beforeAll(async () => {
  past = new Past(scene.system);
  for (const hoursAgo of [0, 1, 2, 30]) await past.store(hoursAgo, { account: "a", platform: "ios" });
  await past.store(1, { account: "b" });
});
afterAll(() => past?.close());

const HOUR_MS = 3_600_000;
const ago = (hours: number): string => new Date(scene.system.clock.now() - hours * HOUR_MS).toISOString();
const sum = (counts: readonly { readonly events: number }[]): number =>
  counts.reduce((total, { events }) => total + events, 0);

describe("the numbers of events", () => {
  it("are of the filters of a list, in one part or in several", async () => {
    const client = await listener.client(["analyst"]);
    const count = async (input: Input<"countEvents">) => (await client.call("countEvents", input)).counts;
    expect(await count({})).toMatchObject([{ events: 5, more: false }]);
    expect(await count({ account: "a" })).toMatchObject([{ events: 4 }]);
    expect(await count({ account: "a", from: ago(24) })).toMatchObject([{ events: 3 }]);
    expect(await count({ platform: "android" })).toMatchObject([{ events: 1 }]);
    expect(await count({ account: "' or true --" })).toMatchObject([{ events: 0, more: false }]);
    const parts = await count({ account: "a", from: ago(3), to: ago(-1), buckets: 60 });
    expect([parts.length <= 60, sum(parts)]).toEqual([true, 3]);
    expect(parts.map(({ from }) => from)).toEqual(parts.map(({ from }) => from).toSorted());
    expect(await count({ from: ago(1), to: ago(2) })).toEqual([]);
    expect(await count({ action_type: "unknown", buckets: 60 }), "nothing").toEqual(
      expect.not.arrayContaining([expect.objectContaining({ more: true })]),
    );
  });

  it("begin with the first event, and not with the partition in which it is", async () => {
    const client = await listener.client(["analyst"]);
    const { counts } = await client.call("countEvents", { buckets: 60 });
    const before = counts.findIndex(({ events }) => events > 0);
    // The first event is 30 hours old, and its partition is of a month.
    expect(sum(counts)).toBe(5);
    expect(Date.parse(counts[before]?.from ?? "") - Date.parse(counts[0]?.from ?? "")).toBeLessThan(24 * HOUR_MS);
  });

  it("stop at a thousand", async () => {
    await scene.owner.query(
      `insert into event select account, purpose, received_at, gen_random_uuid(), collected_at, schema_version,
          n::text, action_id, 'many', session_id, event_type, sdk_version, platform, app_version, payload, key_id
        from (select * from event where account = 'b') e, generate_series(1, 1001) n`,
    );
    const client = await listener.client(["analyst"]);
    const { counts } = await client.call("countEvents", { action_type: "many" });
    expect(counts).toMatchObject([{ events: 1_000, more: true }]);
    await scene.owner.query("delete from event where action_type = 'many'");
  });

  it("leave out events that are excluded from analysis, unless the role is privacy", async () => {
    const setRestricted = "update account_key set restricted = $1 where account = 'b'";
    await scene.owner.query(setRestricted, [true]);
    for (const [role, events] of [
      ["analyst", 4],
      ["privacy", 5],
    ] as const) {
      const { counts } = await (await listener.client([role])).call("countEvents", {});
      expect(counts, role).toMatchObject([{ events }]);
    }
    const analyst = await listener.client(["analyst"]);
    const { counts } = await analyst.call("countEvents", { account: "nobody", to: ago(-1) });
    const ofRestricted = await analyst.call("countEvents", { account: "b", to: counts[0]?.to ?? "" });
    expect(ofRestricted.counts, "as of no account").toEqual(counts);
    await scene.owner.query(setRestricted, [false]);
  });

  it("are for an operator by no name", async () => {
    const client = await listener.client(["operator"]);
    expect((await client.call("countEvents", { platform: "ios" })).counts).toMatchObject([{ events: 4 }]);
    for (const input of [{ account: "a" }, { action_id: "a" }]) {
      await expect(client.call("countEvents", input)).rejects.toMatchObject({ code: "permission-missing" });
    }
  });

  it("are audited with the filter", async () => {
    const person = "counter";
    const client = await listener.client(["analyst"], { person });
    await client.call("countEvents", { account: "a", platform: "ios", buckets: 7 });
    const [entry] = await listAudit(scene.system.pool, () => scene.system.secrets, { person, limit: 1 });
    expect(entry).toMatchObject({
      operation: "event.count",
      outcome: "done",
      account: scene.system.audit.subjectOf("a").toString("hex"),
      detail: { filter: { platform: "ios" }, buckets: 7 },
    });
  });

  it.each([{ buckets: 0 }, { buckets: 61 }, { from: "yesterday" }, { session_id: "s" }, { purpose: "__proto__" }])(
    "are refused of %j",
    async (input) => {
      const client = await listener.client(["analyst"]);
      await expect(client.call("countEvents", input)).rejects.toMatchObject({ code: "request-invalid" });
    },
  );

  it("are printed by drs event count", async () => {
    const { stdout } = await runWithBreakGlass(scene.environment, "event", "count", "--account", "a", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ events: 4, more: false });
  });
});
