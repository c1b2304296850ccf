/** Tests of who reads feature values through the admin API, and of the audit of these reads. */
import { beforeAll, expect, it } from "vitest";
import { objects, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import type { PastEvent } from "../../../../../e2e/support/past-event.ts";
import { FOUND, REASON, useFeatureScene } from "./feature-scene.fixture.ts";

const { opened, listener, past, drs, extract, store } = useFeatureScene();
let event: PastEvent;

beforeAll(async () => {
  event = await store("customer-1", true);
  await extract();
});

it("a value is explained to the auditor without the value itself, and the read is audited", async () => {
  const [auditor, analyst] = [await listener.client(["auditor"]), await listener.client(["analyst"])];
  const query = { event_id: event.eventId, feature: "found@1" };
  const [value] = (await auditor.call("explainFeature", query)).values;
  expect(value).toMatchObject({ state: "observed", value: null, is_value_withheld: true, hash: FOUND.hash });
  expect((await analyst.call("explainFeature", query)).values).toMatchObject([
    { value: true, is_value_withheld: false },
  ]);
  const { rows } = await opened.owner.query(
    "select distinct outcome, event_id from audit_entry where operation = 'feature.explain' and via = 'api'",
  );
  expect(rows).toEqual([{ outcome: "done", event_id: event.eventId }]);
});

it("drs feature get reads without a wait, which 0 means with or without a unit", async () => {
  for (const wait of ["0", "0s"]) {
    const read = await drs("feature", "get", "--event", event.eventId, "--wait", wait);
    expect(read).toMatchObject({ event_id: event.eventId, status: "computed" });
  }
});

it("the features of an account with more than a thousand events are read page by page, and once each", async () => {
  for (let stored = 0; stored < 10; stored++) {
    await Promise.all(Array.from({ length: stored < 9 ? 100 : 101 }, () => store("many", true)));
  }
  const { rows } = await opened.owner.query("select event_id from event where account = 'many' order by event_id desc");
  const all = rows.map(({ event_id }: { event_id: string }) => event_id);
  const read = async (...args: readonly string[]) =>
    objects((await runWithBreakGlass(opened.environment, "feature", "get", "--account", "many", ...args)).stdout);
  const idsOf = (events: readonly object[]) => events.map((one) => (one as { event_id: string }).event_id);
  expect(all).toHaveLength(1_001);
  expect(idsOf(await read("--limit", "0", "--json"))).toEqual(all);
  expect(idsOf(await read("--limit", "1001", "--json"))).toEqual(all);
  await extract();
  // Values outlive their events, and both are in the order of the list.
  await opened.owner.query("delete from event where account = 'many' and event_id = any ($1)", [all.slice(3, 6)]);
  const analyst = await listener.client(["analyst"]);
  const found: string[] = [];
  let after: string | null | undefined;
  do {
    const page = await analyst.call("readFeatures", { account: "many", limit: 2, ...(after && { after }) });
    for (const { features } of page.events) expect(features).toMatchObject([{ feature: "found@1", value: true }]);
    found.push(...idsOf(page.events));
    after = page.next;
  } while (after && found.length < 10);
  expect(found).toEqual(all.slice(0, 10));
  const end = { account: "many", after: all.at(-1) ?? "" };
  expect(await analyst.call("readFeatures", end), "no page is left").toEqual({ events: [], next: null });
});

it("a search that finds nothing is audited with its parameters", async () => {
  const analyst = await listener.client(["analyst"], { person: "searching" });
  const none = { code: "not-found" };
  const unknown = "019a0000-0000-7000-8000-000000000000";
  await expect(analyst.call("readFeatures", { account: "unknown-1" })).rejects.toMatchObject(none);
  await expect(analyst.call("readFeatures", { event_id: unknown })).rejects.toMatchObject(none);
  await expect(analyst.call("explainFeature", { event_id: unknown, feature: "found" })).rejects.toMatchObject(none);
  await expect(analyst.call("verifyFeatures", { event_id: unknown })).rejects.toMatchObject(none);
  const { rows } = await opened.owner.query(
    `select operation, outcome, event_id, encode(subject, 'hex') as subject from audit_entry
      where actor like 'searching (%' and operation like 'feature.%' order by at, entry_id`,
  );
  const { audit } = opened.system;
  const entry = { outcome: "not-found", event_id: unknown, subject: null };
  expect(rows).toEqual([
    { ...entry, operation: "feature.read", event_id: null, subject: audit.subjectOf("unknown-1").toString("hex") },
    { ...entry, operation: "feature.read" },
    { ...entry, operation: "feature.explain" },
    { ...entry, operation: "feature.verify" },
  ]);
});

it("an analyst sees values of a restricted account only with a case and the role privacy", async () => {
  await opened.owner.query("update account_key set restricted = true where account = 'customer-1'");
  const [analyst, both] = [
    await listener.client(["analyst"], { person: "emma" }),
    await listener.client(["analyst", "privacy"], { person: "frida" }),
  ];
  const why = { category: "legal-order", reason: "request 4714" } as const;
  const caseOf = async (account: string): Promise<string> => (await both.call("openCase", { account, ...why })).case_id;
  const query = { account: "customer-1", include_restricted: true };
  const case_id = await caseOf("customer-1");
  await expect(both.call("readFeatures", { account: "customer-1" })).rejects.toMatchObject({ code: "not-found" });
  const shown = await both.call("readFeatures", { ...query, case_id });
  expect(shown.events).toMatchObject([{ event_id: event.eventId, features: [{ feature: "found@1", value: true }] }]);
  const own = (await analyst.call("openCase", { account: "customer-1", ...why })).case_id;
  const refused = analyst.call("readFeatures", { ...query, case_id: own });
  await expect(refused).rejects.toMatchObject({ code: "permission-missing" });
  const elsewhere = await caseOf("customer-3");
  for (const wrong of [elsewhere, own]) {
    await expect(both.call("readFeatures", { ...query, case_id: wrong })).rejects.toMatchObject({
      code: "case-invalid",
    });
  }
  const { rows: denied } = await opened.owner.query(
    "select split_part(actor, ' (', 1) as person, case_id from audit_entry where operation = 'feature.read' and outcome = 'denied' order by at",
  );
  expect(denied).toEqual([
    { person: "emma", case_id: own },
    { person: "frida", case_id: elsewhere },
    { person: "frida", case_id: own },
  ]);
  const direct = ["feature", "get", "--account", "customer-1", "--include-restricted"];
  expect((await runWithBreakGlass(opened.environment, ...direct)).code).toBe(2);
  const { case_id: of } = await drs("case", "open", "--account", "customer-1", "--category", "dispute", ...REASON);
  expect(await drs(...direct, "--case", String(of))).toEqual(shown.events[0]);
  const { rows } = await opened.owner.query(
    "select case_id from audit_entry where operation = 'feature.read' and outcome = 'done' and case_id is not null order by at",
  );
  expect(rows).toEqual([{ case_id }, { case_id: of }]);
  await opened.owner.query("update account_key set restricted = false where account = 'customer-1'");
});

it("a read of values by event or action is an access to each account whose values it shows", async () => {
  const actionId = "shared-action";
  const shared = [
    await past().store(0, { account: "customer-6", actionId }),
    await past().store(0, { account: "customer-7", actionId }),
  ];
  const analyst = await listener.client(["analyst"], { person: "jana" });
  const [read] = (await analyst.call("readFeatures", { event_id: event.eventId })).events;
  expect(read).toMatchObject({ account: "customer-1", features: [{ feature: "found@1", value: true }] });
  expect((await analyst.call("readFeatures", { action_id: actionId })).events).toHaveLength(2);
  const accessed = async (account: string) => {
    const { stdout } = await runWithBreakGlass(opened.environment, "audit", "list", "--account", account, "--json");
    return objects(stdout)
      .filter(({ actor, operation }) => String(actor).startsWith("jana (") && operation === "feature.read")
      .map(({ outcome, event_id }) => [outcome, event_id]);
  };
  expect(await accessed("customer-1")).toEqual([["done", event.eventId]]);
  for (const { account, eventId } of shared) expect(await accessed(account)).toEqual([["done", eventId]]);
});
