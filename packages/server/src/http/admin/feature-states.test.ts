/** Tests of the state of features in the list of events: without their values, and for each role that lists events. */
import { beforeAll, expect, it } from "vitest";
import type { Role } from "@device-risk-signals/admin-api";
import type { PastEvent } from "../../../../../e2e/support/past-event.ts";
import { findFeatureStates } from "../../features/read-features.ts";
import { listEvents } from "../../store/events/list-events.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { useFeatureScene } from "./feature-scene.fixture.ts";

const { opened, listener, past, drs, extract, store } = useFeatureScene();
let computed: PastEvent;
let failed: PastEvent;
let pending: PastEvent;
let other: PastEvent;

beforeAll(async () => {
  failed = await past().store(1, { account: "a" });
  computed = await store("a", true);
  await extract();
  pending = await store("b", "<script>");
  await opened.owner.query("insert into purpose (code, id, title) values (2, 'other', 'Other')");
  other = await past().store(0, { account: "c", purpose: 2 });
});

const statesFor = async (role: Role, input: object = {}) => {
  const { events } = await (await listener.client([role])).call("listEvents", { features: true, ...input });
  return new Map(events.map(({ event_id, features }) => [event_id, features]));
};

it.each(["analyst", "investigator", "operator", "privacy"] as const)(
  "a list for the role %s has the state of each event",
  async (role) => {
    const states = await statesFor(role);
    expect(states.get(computed.eventId)).toEqual({ status: "computed", reason: null, features: 1 });
    expect(states.get(pending.eventId)).toEqual({ status: "pending", reason: null, features: 0 });
    expect(states.get(failed.eventId)).toEqual({ status: "excluded", reason: "not-json", features: 0 });
    expect(states.get(other.eventId)).toBeNull();
  },
);

it("a list that is not asked for states has none", async () => {
  const { events } = await (await listener.client(["analyst"])).call("listEvents", {});
  expect(events.filter((event) => "features" in event)).toEqual([]);
});

it("only the role privacy sees the state of a restricted event", async () => {
  const restrict = (is: boolean) =>
    opened.owner.query("update account_key set restricted = $1 where account = 'a'", [is]);
  await restrict(true);
  expect((await statesFor("analyst")).get(computed.eventId)).toBeUndefined();
  expect((await statesFor("privacy")).get(computed.eventId)).toMatchObject({ status: "computed", features: 1 });
  await restrict(false);
});

it("drs event list shows the state", async () => {
  const listed = await drs("event", "list", "--account", "a", "--features", "--limit", "1");
  expect(listed).toMatchObject({ event_id: computed.eventId, features: { status: "computed", features: 1 } });
});

it("an event whose purpose no longer has features has none, unless values are stored", async () => {
  await opened.owner.query("begin; update layer set ended_at = now()");
  const listed = async () => {
    const executor = opened.owner as never as Executor;
    const events = await listEvents(executor, {}, 10);
    return findFeatureStates(executor, events, {});
  };
  expect([...(await listed()).keys()]).toEqual([computed.eventId]);
  await opened.owner.query("rollback");
});
