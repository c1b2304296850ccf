/** Tests of comparisons of two versions of a feature: what they show, to whom, and what is audited. */
import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleOf } from "../../../../features/src/bundle.fixture.ts";
import { runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import type { PastEvent } from "../../../../../e2e/support/past-event.ts";
import { REASON, useFeatureScene } from "./feature-scene.fixture.ts";

const { opened, listener, drs, fileIn, store } = useFeatureScene();
let event: PastEvent;
let latest: PastEvent;

beforeAll(async () => {
  event = await store("customer-1", true);
  latest = await store("customer-3", true);
  const second = bundleOf("({ su }) => su.state === 'observed' ? !su.value : null", {
    id: "found",
    version: 2,
    purposes: ["default"],
  });
  const elsewhere = bundleOf("({ su }) => su.value ?? null", { id: "elsewhere", purposes: ["other"] });
  const file = fileIn("second.json");
  await writeFile(file, JSON.stringify([second, elsewhere]));
  await drs("feature", "propose", file, ...REASON);
});

it("a version that is not adopted is compared, and small numbers are shown only with a case of the account", async () => {
  const page = fileIn("page.html");
  const compare = ["feature", "compare", "found@1", "found@2", "--purpose", "default", "--all"];
  const cell = { platform: "android", sdk_version: "1.2.3", before: "observed true", after: "observed false" };
  expect(await drs(...compare, "--html", page)).toMatchObject({ events: null, cells: [{ ...cell, events: null }] });
  expect(await readFile(page, "utf8")).toContain("not shown");
  const open = async (...covers: readonly string[]): Promise<string> =>
    String((await drs("case", "open", ...covers, "--category", "debugging", ...REASON))["case_id"]);
  const case_id = await open("--account", "customer-1");
  expect(await drs(...compare, "--case", case_id)).toMatchObject({ events: 1, cells: [{ ...cell, events: 1 }] });
  const { rows } = await opened.owner.query(
    `select outcome, case_id, encode(subject, 'hex') as subject from audit_entry
      where operation = 'feature.compare' and case_id is not null order by at, entry_id`,
  );
  const entry = { case_id, subject: opened.system.audit.subjectOf("customer-1").toString("hex") };
  expect(rows).toEqual([
    { ...entry, outcome: "begun" },
    { ...entry, outcome: "done" },
  ]);
  const of = await open("--account", "customer-1", "--action", event.actionId);
  expect(await drs(...compare, "--case", of)).toMatchObject({ events: 1 });
  await runWithBreakGlass(opened.environment, "case", "close", of);
  const foreign = "update access_case set opened_by = 'another' where case_id = $1";
  const counted = "select events_opened from access_case where case_id = $1";
  expect((await opened.owner.query(counted, [case_id])).rows).toEqual([{ events_opened: "1" }]);
  await opened.owner.query(foreign, [case_id]);
  for (const wrong of [event.eventId, await open("--event", event.eventId), of, case_id]) {
    const refused = await runWithBreakGlass(opened.environment, ...compare, "--case", wrong);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
  }
});

describe("an analyst who compares versions of a field of high sensitivity", () => {
  const versions = { before: "icc_card@1", after: "icc_card@2", purpose: "default" };
  const WHY = { account: "customer-1", category: "debugging", reason: "review 4715" } as const;

  beforeAll(async () => {
    const inputs = [{ name: "card", path: ["telephony", "hasIccCard"], type: "boolean", sensitivity: "high" }] as const;
    const bundles = ["false", "true"].map((value, index) =>
      bundleOf(`({ card }) => card.state === 'observed' ? ${value} : null`, {
        id: "icc_card",
        version: index + 1,
        purposes: ["default"],
        inputs,
      }),
    );
    const file = fileIn("sensitive.json");
    await writeFile(file, JSON.stringify(bundles));
    await drs("feature", "propose", file, ...REASON);
  });

  it("sees no exact numbers in a case unless the caller may read such fields, and the attempt is audited", async () => {
    const [analyst, both] = [
      await listener.client(["analyst"], { person: "gina" }),
      await listener.client(["analyst", "investigator"], { person: "hugo" }),
    ];
    const { case_id } = await analyst.call("openCase", WHY);
    await expect(analyst.call("compareFeatures", { ...versions, case_id })).rejects.toMatchObject({
      code: "permission-missing",
    });
    expect((await analyst.call("listCases", {})).cases[0]).toMatchObject({ case_id, events_opened: 0 });
    expect(await analyst.call("compareFeatures", versions)).toMatchObject({ is_exact: false });
    const own = await both.call("openCase", WHY);
    expect(await both.call("compareFeatures", { ...versions, case_id: own.case_id })).toMatchObject({ is_exact: true });
    const { rows } = await opened.owner.query(
      `select operation, outcome from audit_entry
        where actor like 'gina (%' and operation = 'feature.compare' order by at, entry_id`,
    );
    expect(rows).toEqual([
      { operation: "feature.compare", outcome: "denied" },
      { operation: "feature.compare", outcome: "begun" },
      { operation: "feature.compare", outcome: "done" },
    ]);
    const reads = (await listener.client(["auditor"])).call("reviewReads", {});
    expect((await reads).reads).toContainEqual({
      unchecked: expect.any(Number),
      person: "hugo",
      via: "api",
      operation: "feature.compare",
      category: WHY.category,
      ticket: null,
      entries: 2,
      accounts: 1,
      events: 0,
    });
  });
});

it("a comparison without a case begins at the start of a day, so that two comparisons can't differ by one event", async () => {
  const after = new Date(latest.receivedAt + 1).toISOString();
  const day = `${after.slice(0, 10)}T00:00:00.000Z`;
  const analyst = await listener.client(["analyst"], { person: "ida" });
  const versions = { before: "found@1", after: "found@2", purpose: "default", from: after };
  const compared = await analyst.call("compareFeatures", versions);
  expect(compared).toMatchObject({ from: day, cells: expect.arrayContaining([expect.anything()]) as unknown });
  const direct = ["feature", "compare", "found@1", "found@2", "--purpose", "default", "--since", after];
  expect(await drs(...direct)).toEqual(compared);
  const { case_id } = await analyst.call("openCase", {
    account: "customer-3",
    category: "debugging",
    reason: "review 4716",
  });
  const exact = await analyst.call("compareFeatures", { ...versions, case_id });
  expect(exact).toMatchObject({ from: after, events: 0, cells: [] });
});

it("versions are compared for events of a purpose that both definitions name", async () => {
  const compare = ["feature", "compare", "found@1", "elsewhere@1", "--purpose", "default", "--all"];
  expect((await runWithBreakGlass(opened.environment, ...compare)).stderr).toContain(
    "do not name the purpose default: elsewhere@1.",
  );
});
