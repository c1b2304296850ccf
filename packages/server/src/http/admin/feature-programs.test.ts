/**
 * Tests of the decisions of analysts about programs: the adoption of a version, and another program for the same
 * version.
 */
import { writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleOf } from "../../../../features/src/bundle.fixture.ts";
import { objects, runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { DECIDER, EVIDENCE } from "../../features/adopt-feature.fixture.ts";
import { findBundles, recordProposal as propose } from "../../features/decisions.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { FOUND, REASON, useFeatureScene } from "./feature-scene.fixture.ts";

const { opened, listener, drs, fileIn, store } = useFeatureScene();

const FOUND_OR_NONE = "({ su }) => su.state === 'observed' ? true : null";
const withManifest = (manifest: unknown): string => JSON.stringify([{ ...bundleOf("() => true"), manifest }]);

it("a version is adopted by its proposer only with the approval of another analyst, and by another analyst without one", async () => {
  const [anna, bert] = [
    await listener.client(["analyst"], { person: "anna" }),
    await listener.client(["analyst"], { person: "bert" }),
  ];
  const asked = ["asked", "other"].map((id) => bundleOf(FOUND_OR_NONE, { id, purposes: ["default"] }));
  await anna.call("proposeFeatures", { bundles: asked, reason: "review 4712" });
  const adopt = { features: ["asked@1"], purpose: "default", reason: "review 4712" };
  const token = await listener.client(["analyst"], { person: "machine", obtainedBy: "anna" });
  await expect(token.call("adoptFeatures", adopt)).rejects.toThrow("by analyst is needed");
  const refused = await anna.call("adoptFeatures", adopt).then(String, String);
  const approvalId = /Approval (\S+) by analyst/.exec(refused)?.[1] ?? "";
  expect(await anna.call("readApproval", { approval_id: approvalId })).toMatchObject({
    operation: "feature.adopt",
    parameters: { features: ["asked@1"], purpose: "default" },
    plan: { days: 7, coverage: expect.any(Array) as unknown },
    state: "waiting",
  });
  const { pool, clock, approvals } = opened.system;
  const decision = { approvalId, roles: ["analyst"], decision: "approved" } as const;
  expect(await approvals.decide(pool, clock, { ...decision, person: "anna" })).toBe(false);
  expect(await approvals.decide(pool, clock, { ...decision, person: "bert" })).toBe(true);
  await expect(anna.call("adoptFeatures", { ...adopt, features: ["other@1"] })).rejects.toThrow("Approval");
  expect((await anna.call("adoptFeatures", adopt)).layer).toBeGreaterThan(1);
  expect((await bert.call("adoptFeatures", { ...adopt, features: ["other@1"] })).layer).toBeGreaterThan(2);
  const { rows } = await opened.owner.query(
    "select approval_id from audit_entry where operation = 'feature.adopt' and approval_id is not null",
  );
  expect(rows).toEqual([{ approval_id: approvalId }]);
});

it("a version that reads a field of high sensitivity is adopted only with the approval of privacy", async () => {
  const [greta, hans] = [
    await listener.client(["analyst"], { person: "greta" }),
    await listener.client(["analyst"], { person: "hans" }),
  ];
  const inputs = [
    { name: "at", path: ["geolocation", "latitude"], type: "number", unit: "degrees", sensitivity: "high" },
  ] as const;
  const bundle = bundleOf("({ at }) => at.state === 'observed' ? true : null", {
    id: "located",
    purposes: ["default"],
    inputs,
  });
  await greta.call("proposeFeatures", { bundles: [bundle], reason: "review 4715" });
  const adopt = { features: ["located@1"], purpose: "default", reason: "review 4715" };
  const refused = await hans.call("adoptFeatures", adopt).then(String, String);
  const approvalId = /Approval (\S+) by privacy/.exec(refused)?.[1] ?? "";
  const { pool, clock, approvals } = opened.system;
  const decision = { approvalId, decision: "approved" } as const;
  expect(await approvals.decide(pool, clock, { ...decision, person: "ida", roles: ["analyst"] })).toBe(false);
  expect(await approvals.decide(pool, clock, { ...decision, person: "ida", roles: ["privacy"] })).toBe(true);
  expect((await hans.call("adoptFeatures", adopt)).layer).toBeGreaterThan(1);
});

it("features that do not fit into one process are not adopted together", async () => {
  const analyst = await listener.client(["analyst"], { person: "frida" });
  // The lint rejects such a program. A version that was archived before may still need much memory.
  const large =
    "(() => { const table = new Array(8e6).fill(0.5); return ({ su }) => su.value && table.length > 0 ? true : null; })()";
  const ids = ["a", "b", "c", "d", "e"].map((letter) => `large_${letter}`);
  const bundles = ids.map((id) => bundleOf(large, { id, purposes: ["default"] }));
  const { system } = opened;
  await inOwnerTransaction(system.administration, (owner) => propose(owner, system.audit, bundles, EVIDENCE, DECIDER));
  const adopt = { features: ids.map((id) => `${id}@1`), purpose: "default", reason: "review 4714" };
  await expect(analyst.call("adoptFeatures", adopt)).rejects.toThrow("No process could load these features together");
});

it.each([
  ["U+0000 in a fixture", { fixtures: { cases: [{ name: "a\0b", inputs: { su: "timeout" }, result: "timeout" }] } }],
  ["half a surrogate pair in a fixture", { fixtures: { cases: [], note: "\ud800" } }],
])("bundles with a text that can't be archived are not proposed: %s", async (_, more) => {
  const file = fileIn("texts.json");
  await writeFile(
    file,
    JSON.stringify([{ ...bundleOf("() => true", { id: "texts", purposes: ["default"] }), ...more }]),
  );
  const { code, stderr } = await runWithBreakGlass(opened.environment, "feature", "propose", file, ...REASON);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("Bundle 1 contains") as string });
});

it.each(["null", "[null]", ...[null, { inputs: [{ name: "su", path: "x" }] }].map(withManifest)])(
  "a file without bundles is not proposed: %s",
  async (text) => {
    const file = fileIn("none.json");
    await writeFile(file, text);
    const { code, stderr } = await runWithBreakGlass(opened.environment, "feature", "propose", file, ...REASON);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("are not an array of") as string,
    });
  },
);

describe("a version that does not give what its fixtures expect", () => {
  const fixtures = { cases: [{ name: "found", inputs: { su: { observed: true } }, result: { observed: false } }] };
  const failing = (id: string) => ({ ...bundleOf("() => true", { id, purposes: ["default"] }), fixtures });
  const problem = 'found: expected {"observed":false}, the result is {"observed":true}';

  it("is not proposed", async () => {
    const analyst = await listener.client(["analyst"], { person: "gina" });
    const proposed = analyst.call("proposeFeatures", { bundles: [failing("failing")], reason: "review 4716" });
    await expect(proposed).rejects.toThrow(`failing@1: ${problem}`);
  });

  it("is not adopted", async () => {
    const { system } = opened;
    await inOwnerTransaction(system.administration, (owner) =>
      propose(owner, system.audit, [failing("archived")], EVIDENCE, DECIDER),
    );
    const analyst = await listener.client(["analyst"], { person: "gina" });
    const adopted = analyst.call("adoptFeatures", {
      features: ["archived@1"],
      purpose: "default",
      reason: "review 4716",
    });
    await expect(adopted).rejects.toThrow(`archived@1: ${problem}`);
  });
});

it.each([
  ["reads the clock", "() => Date.now() > 0", "`Date` does not exist for definitions"],
  ["keeps state between events", "(() => { let seen = 0; return () => ++seen > 1; })()", "keep state between events"],
  [
    "keeps state in a function that another one made",
    "(() => (() => { let last; return () => (last = 1) > 0; })())()",
    "outside of functions there are only",
  ],
])("a program in JSON that %s is not proposed", async (_, compute, finding) => {
  const analyst = await listener.client(["analyst"], { person: "gina" });
  const bundles = [bundleOf(compute, { id: "linted", purposes: ["default"] })];
  await expect(analyst.call("proposeFeatures", { bundles, reason: "review 4717" })).rejects.toThrow(finding);
});

it("another program for a version is recorded if it gives the same values, but not if one value of a stored event differs", async () => {
  const file = fileIn("programs.json");
  const equivalent = async (compute: string) => {
    const given = bundleOf(compute, { id: "found", purposes: ["default"] });
    await writeFile(file, JSON.stringify([given]));
    const args = ["feature", "equivalent", file, ...REASON];
    return { given, run: await runWithBreakGlass(opened.environment, ...args, "--json") };
  };
  const hidden = [await store("customer-3", false), await store("customer-4", true)];
  const other = await equivalent("({ su }) => su.state === 'observed' && su.value ? true : null");
  expect(other.run).toMatchObject({ code: 1, stderr: expect.stringContaining("found@1 differs for stored") as string });
  for (const { eventId } of hidden) expect(other.run.stderr).not.toContain(eventId);
  const wrong = await equivalent("({ su }) => su.state === 'observed' ? false : null");
  expect(wrong.run.stderr).toContain("archived fixture");
  expect((await runWithBreakGlass(opened.environment, "feature", "propose", file, ...REASON)).code).toBe(1);

  const live = (await opened.owner.query("select from event")).rowCount;
  const { given, run } = await equivalent("({ su }) => (su.state !== 'observed' ? null : su.value)");
  expect(objects(run.stdout)).toMatchObject([
    { programs: [{ feature: "found@1", hash: given.hash, archived_hash: FOUND.hash, events: live }], unreadable: 0 },
  ]);
  expect(await drs("feature", "propose", file, ...REASON), "the version is archived").toMatchObject({ proposed: [] });
  const [archived] = await findBundles(opened.system.pool, ["found@1"]);
  expect(archived, "the archived program continues to run").toMatchObject({ hash: FOUND.hash });
  const [decision] = objects((await runWithBreakGlass(opened.environment, "feature", "decisions", "--json")).stdout);
  expect(decision).toMatchObject({ kind: "equivalent", features: ["found@1"], reason: "review 4711" });
});

it("another program is recorded although it is slow for some events, but not if it is slow for most", async () => {
  const slow = (value: boolean, rest = "") => {
    const compute = `({ su }) => { if (su.value === ${value}) for (let i = 0; i < 4e8; i++); return su.value ?? null; }`;
    return bundleOf(compute + rest, { id: "slow", purposes: ["default"] });
  };
  const analyst = await listener.client(["analyst"], { person: "erika" });
  const reason = "review 4714";
  await analyst.call("proposeFeatures", { bundles: [slow(false)], reason });
  await store("customer-6", false);
  for (let n = 0; n < 8; n++) await store("customer-7", true);
  const equivalent = (bundle: ReturnType<typeof slow>) =>
    analyst.call("recordEquivalence", { bundles: [bundle], reason });
  await expect(equivalent(slow(true))).rejects.toThrow("slow@1 differs for stored events, or is too slow for most");
  expect(await equivalent(slow(false, " "))).toMatchObject({ programs: [{ feature: "slow@1" }] });
  const quick = bundleOf("({ su }) => su.value ?? null", { id: "slow", purposes: ["default"] });
  expect(await equivalent(quick)).toMatchObject({ programs: [{ feature: "slow@1" }] });
});

describe("an analyst who compares a program of their own with the archived one", () => {
  const REASONS = { reason: "review 4713" };
  const differing = "({ su }) => (su.state === 'observed' && su.value ? true : null)";
  const equivalent = "({ su }) => (su.state === 'observed' ? su.value : null)";
  const programs = (compute: Readonly<Record<string, string>>) =>
    Object.entries(compute).map(([id, text]) => bundleOf(text, { id, purposes: ["default"] }));
  const entries = async (person: string) => {
    const { rows } = await opened.owner.query<{ operation: string; outcome: string }>(
      `select operation, outcome from audit_entry
        where actor like $1 and operation like 'feature.%' order by at, entry_id`,
      [`${person} (%`],
    );
    return rows.map(({ operation, outcome }) => [operation, outcome]);
  };

  beforeAll(async () => {
    const analyst = await listener.client(["analyst"], { person: "carla" });
    const archived = programs({ first: equivalent, second: equivalent, third: equivalent });
    await analyst.call("proposeFeatures", { bundles: archived, ...REASONS });
    await store("customer-5", false);
  });

  it("does not learn which event or which of several programs differs, with or without a dry run", async () => {
    const analyst = await listener.client(["analyst"], { person: "carla" });
    const bundles = programs({
      first: `${equivalent} `,
      second: differing,
      third: "(o) => (o.su.state === 'observed' ? o.su.value : null)",
    });
    for (const dry_run of [true, false]) {
      const refused = await analyst.call("recordEquivalence", { bundles, ...REASONS, dry_run }).then(String, String);
      expect(refused).toContain("At least one of");
      expect(refused).not.toMatch(/first|second|third|[0-9a-f]{8}-[0-9a-f]{4}-/);
    }
  });

  it("writes an audit entry before it reads the first event, even if the call is rejected", async () => {
    const analyst = await listener.client(["analyst"], { person: "doris" });
    const adoption = { features: ["first@1"], purpose: "default", ...REASONS };
    const bundles = programs({ first: differing });
    await expect(analyst.call("recordEquivalence", { bundles, ...REASONS, dry_run: true })).rejects.toThrow("differs");
    await expect(analyst.call("proposeFeatures", { bundles, ...REASONS })).rejects.toThrow("another program");
    const unread = { bundles: programs({ first: "() => Date.now()" }), ...REASONS, dry_run: true };
    await expect(analyst.call("proposeFeatures", unread)).rejects.toThrow("`Date`");
    await expect(analyst.call("recordEquivalence", unread)).rejects.toThrow("`Date`");
    await analyst.call("adoptFeatures", { ...adoption, dry_run: true });
    expect(await entries("doris")).toEqual([
      ["feature.equivalent", "begun"],
      ["feature.propose", "begun"],
      ["feature.propose", "begun"],
      ["feature.equivalent", "begun"],
      ["feature.adopt", "begun"],
      ["feature.adopt", "done"],
    ]);
    const { rows } = await opened.owner.query<{ entry_id: string }>(
      `select entry_id::text from audit_entry where actor like 'doris (%' and operation = 'feature.equivalent'
        order by at, entry_id`,
    );
    const listed = objects(
      (await runWithBreakGlass(opened.environment, "audit", "list", "--limit", "50", "--json")).stdout,
    );
    expect(listed.find(({ entry_id }) => entry_id === rows[0]?.entry_id)).toMatchObject({
      reason: "review 4713",
      detail: { programs: [{ feature: "first@1", hash: bundles[0]?.hash }], dry_run: true },
    });
  });
});
