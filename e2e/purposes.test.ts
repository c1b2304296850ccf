/** Tests of purposes: which purpose an event gets, what a policy changes, and what it must not change. */
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerAction } from "../packages/server/src/ingest/actions/action-table.ts";
import type { System } from "../packages/server/src/runtime/system.ts";
import { authorized, freshKey, type Reply, send, transport } from "./support/client.ts";
import { runWithBreakGlass, objects, type Printed } from "./support/command.ts";
import { sharedDatabase, type TestDatabase } from "./support/database.ts";
import { until } from "./support/embedded.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { Past } from "./support/past-event.ts";
import { type Credentials, type ServerProcess, startServer } from "./support/server.ts";
import { advanceClock } from "./support/test-clock.ts";

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let server: ServerProcess;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-purposes-"));
  database = await sharedDatabase();
  environment = { ...(await database.environment()), DRS_ERASURE_JOURNAL: join(folder, "journal") };
  system = await openTestSystem(environment);
  server = await startServer({ ...environment, DRS_THROTTLE_RATE: "0" });
});

afterAll(async () => {
  await server?.stop();
  await system?.close();
  await database?.close();
  await rm(folder, { recursive: true, force: true });
});

const drs = (...args: readonly string[]): Promise<Printed> => runWithBreakGlass(environment, ...args);

const PAYMENTS = { id: "payments", raw_retention: "P90D" };
const OTHERS = { id: "others", raw_retention: "P7D" };
const COMMON = { title: "Fraud prevention", legal_basis: "legitimate interest", derived_retention: "P1Y", owner: "o" };

/** Writes a policy as JSON, which is valid YAML. @returns the path of the file */
async function fileOf(purposes: readonly object[], actions: object, unmapped: string): Promise<string> {
  const path = join(folder, `${freshKey()}.yaml`);
  const content = { purposes: purposes.map((purpose) => ({ ...COMMON, ...purpose })), actions, unmapped };
  await writeFile(path, JSON.stringify(content));
  return path;
}

/** Applies a policy, and waits until the server has loaded it. */
async function apply(purposes: readonly object[], actions: object, unmapped: string): Promise<Record<string, unknown>> {
  const applied = await drs("purpose", "apply", await fileOf(purposes, actions, unmapped), "--json");
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  return objects(applied.stdout)[0] ?? {};
}

/** Credentials of an account with an action of the type. */
async function partyOf(actionType: string): Promise<Credentials> {
  const who = await makeCredentials(system, freshKey());
  const { pool, clock } = system;
  const { account, sessionId } = who;
  const action = await registerAction(pool, clock, { account, actionType, sessionId, ttlMs: 3_600_000 });
  if (!action) throw new Error("no action");
  return { ...who, actionType, actionId: action.action_id };
}

function post(who: Credentials, key = freshKey(), probes?: object): Promise<Reply> {
  const body = transport(who);
  if (probes) body.observations["probes"] = probes;
  body.observations["collected_at"] = new Date(Date.now()).toISOString();
  return send({ url: server.url, headers: authorized(who, key), body: JSON.stringify(body) });
}

/** Stores an event with an action of the type. @returns the id of the event's purpose. */
async function purposeOf(actionType: string, probes?: object): Promise<unknown> {
  const answer = await post(await partyOf(actionType), freshKey(), probes);
  expect(answer.status, answer.text).toBe(201);
  return purposeOfEvent(String(answer.json["event_id"]));
}

async function purposeOfEvent(eventId: string): Promise<unknown> {
  const { rows } = await system.pool.query<{ id: string }>(
    "select p.id from event e join purpose p on p.code = e.purpose where e.event_id = $1",
    [eventId],
  );
  return rows[0]?.id;
}

const auditOutcomes = async (account: string): Promise<unknown[]> =>
  objects((await drs("audit", "list", "--account", account, "--json")).stdout).map(({ outcome }) => outcome);

test("purpose record fails without a policy", async () => {
  expect(await drs("purpose", "record")).toMatchObject({ code: 1, stdout: "" });
});

test("a purpose that no policy has described is listed without a retention period", async () => {
  const own = await database.environment();
  const applied = await runWithBreakGlass(own, "purpose", "apply", await fileOf([PAYMENTS], {}, "payments"), "--yes");
  expect(applied.code, applied.stderr).toBe(0);
  const rows = objects((await runWithBreakGlass(own, "purpose", "list", "--json")).stdout);
  expect(rows.find(({ id }) => id === "default")).toMatchObject({ raw_retention: null, derived_retention: null });
  expect(rows.find(({ id }) => id === "payments")).toMatchObject({ raw_retention: "P90D" });
});

test("without a policy the server stores every event under the built-in purpose, and events do not expire", async () => {
  expect(await purposeOf("payment")).toBe("default");
  const [row] = objects((await drs("purpose", "list", "--json")).stdout);
  expect(row).toMatchObject({ id: "default", raw_retention: null, takes_unmapped: true, policy_version: 0 });
});

test("a policy that leaves out a purpose with events is rejected", async () => {
  const refused = await drs("purpose", "apply", await fileOf([PAYMENTS], { payment: "payments" }, "refuse"));
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/leaves out purposes that hold events: default \(1 event\)/);
  expect(objects((await drs("purpose", "list", "--json")).stdout)).toHaveLength(1);
});

describe("an active policy", () => {
  const retired = { id: "default", raw_retention: "P30D", retired: true };

  test("is shown before it is applied, and showing it changes nothing", async () => {
    const file = await fileOf([PAYMENTS, OTHERS, retired], { payment: "payments" }, "others");
    const dry = await drs("purpose", "apply", file, "--dry-run", "--json");
    expect(objects(dry.stdout)[0]).toEqual({
      dry_run: true,
      version: 0,
      changes: [
        { purpose: "payments", change: "added", members: [], events: 0, expire_earlier: 0, expire_at_once: 0 },
        { purpose: "others", change: "added", members: [], events: 0, expire_earlier: 0, expire_at_once: 0 },
        {
          purpose: "default",
          change: "retired",
          members: ["title", "legal_basis", "owner", "raw_retention", "derived_retention", "retired"],
          events: 1,
          expire_earlier: 1,
          expire_at_once: 0,
        },
        { action_type: "payment", from: null, to: "payments" },
        { unmapped: "others", from: "default" },
      ],
    });
    expect((await drs("purpose", "apply", file, "--dry-run")).stdout).toMatch(
      /Nothing was changed; policy 0 is active/,
    );
    expect(await purposeOf("payment")).toBe("default");
  });

  test("gives each action type its purpose on a running server", async () => {
    expect(await apply([PAYMENTS, OTHERS, retired], { payment: "payments" }, "others")).toMatchObject({ version: 1 });
    expect(await purposeOf("payment")).toBe("payments");
    expect(await purposeOf("sign-in")).toBe("others");
    expect(await purposeOf("__proto__")).toBe("others");
  });

  test("changes nothing when it is applied again", async () => {
    const again = await apply([PAYMENTS, OTHERS, retired], { payment: "payments" }, "others");
    expect(again).toEqual({ version: 1, changes: [], dry_run: false });
  });

  test("is printed as a record of processing", async () => {
    const { code, stdout } = await drs("purpose", "record");
    expect(code).toBe(0);
    const [, payments = ""] = stdout.split("## payments\n");
    expect(payments.split("## ")[0]).toContain("| Kept: the exact event | P90D after receipt |");
    expect(payments.split("## ")[0]).toContain("| Legal basis | legitimate interest |");
    for (const { id } of CATALOG) expect(stdout).toContain(`| \`${id}\` |`);
    const policy = objects((await drs("purpose", "record", "--json")).stdout)[0];
    expect(policy).toMatchObject({ purposes: expect.arrayContaining([expect.objectContaining(PAYMENTS)]) });
  });

  test("counts unmapped action types in the audit", async () => {
    const who = await partyOf("sign-in");
    expect((await post(who)).status).toBe(201);
    await until(async () => (await auditOutcomes(who.account)).includes("unmapped"));
  });

  test("moves no stored event to another purpose, and a retry gets its old answer under any later policy", async () => {
    const who = await partyOf("payment");
    const key = freshKey();
    const body = JSON.stringify(transport(who));
    const request = { url: server.url, headers: authorized(who, key), body };
    const first = await send(request);
    expect(first.status).toBe(201);
    await apply([PAYMENTS, OTHERS, retired], {}, "refuse");
    expect((await send(request)).json).toEqual({ event_id: first.json["event_id"], created: false });
    expect(await purposeOfEvent(String(first.json["event_id"]))).toBe("payments");
  });

  test("rejects unmapped action types without using their key, and the audit records the reason", async () => {
    const who = await partyOf("payment");
    const key = freshKey();
    const body = JSON.stringify(transport(who));
    const request = { url: server.url, headers: authorized(who, key), body };
    const refused = await send(request);
    expect(refused).toMatchObject({
      status: 403,
      json: { type: "urn:problem:device-risk-signals:purpose-missing", errors: [{ pointer: "/action_type" }] },
    });
    await until(async () => (await auditOutcomes(who.account)).includes("purpose-missing"));
    const { stdout } = await drs("doctor", "--json");
    expect(objects(stdout).find(({ what }) => what === "purposes")?.["detail"]).toMatch(
      /^policy 2; in the last day 1 event rejected \(purpose-missing\), 3 stored under the purpose of unmapped/,
    );
    await apply([PAYMENTS, OTHERS, retired], { payment: "payments" }, "refuse");
    expect((await send(request)).status).toBe(201);
  });

  test("limits the fields that a purpose covers: an event with other data is rejected, or is stored and recorded", async () => {
    const limited = { probes: ["fonts", "geolocation"], highest_sensitivity: "low" };
    const purposes = [PAYMENTS, { ...OTHERS, ...limited, beyond: "refuse" }, retired];
    await apply(purposes, { payment: "payments", "sign-in": "others" }, "refuse");
    const probes = {
      fonts: { status: "skipped", reason: "disabled" },
      geolocation: { status: "success", data: { latitude: 1.5, gnssSupported: true, isNew: 1 } },
      hardware: { status: "timeout" },
    };
    const who = await partyOf("sign-in");
    const refused = await post(who, freshKey(), probes);
    expect(refused).toMatchObject({ status: 403, json: { type: "urn:problem:device-risk-signals:purpose-exceeded" } });
    expect((refused.json["errors"] as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      "/observations/probes/geolocation/data/latitude",
      "/observations/probes/geolocation/data/isNew",
      "/observations/probes/hardware",
    ]);
    expect(await purposeOf("sign-in", { fonts: { status: "timeout" } })).toBe("others");
    await apply([PAYMENTS, { ...OTHERS, ...limited, beyond: "record" }, retired], { "sign-in": "others" }, "refuse");
    expect((await post(who, freshKey(), probes)).status).toBe(201);
    await until(async () => (await auditOutcomes(who.account)).includes("beyond-purpose"));
  });

  test("reports how many events expire at once because of a shorter period", async () => {
    const second = await fileOf([PAYMENTS, { ...OTHERS, raw_retention: "PT1S" }, retired], {}, "refuse");
    await advanceClock(environment, 2_000);
    const { changes } = objects((await drs("purpose", "apply", second, "--dry-run", "--json")).stdout)[0] as {
      changes: { purpose?: string; events: number; expire_earlier: number; expire_at_once: number }[];
    };
    const change = changes.find(({ purpose }) => purpose === "others");
    expect(change?.events).toBeGreaterThan(3);
    expect(change?.expire_earlier).toBe(change?.events);
    expect(change?.expire_at_once).toBe(change?.events);
    const longer = await fileOf([PAYMENTS, { ...OTHERS, raw_retention: "P60D" }, retired], {}, "refuse");
    expect(objects((await drs("purpose", "apply", longer, "--dry-run", "--json")).stdout)[0]).toMatchObject({
      changes: expect.arrayContaining([expect.objectContaining({ purpose: "others", expire_earlier: 0 })]),
    });
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31", "--json"];
    const listed = objects((await drs("event", "list", "--limit", "0", "--json")).stdout);
    const one = String(listed.find(({ purpose }) => purpose === "others")?.["event_id"]);
    const held = objects((await drs("hold", "add", "--event", one, ...why)).stdout)[0];
    const [applied] = objects((await drs("purpose", "apply", second, "--dry-run", "--json")).stdout);
    expect((applied as { changes: unknown[] }).changes).toContainEqual(
      expect.objectContaining({ purpose: "others", expire_at_once: (change?.events ?? 0) - 1 }),
    );
    expect((await drs("hold", "lift", String(held?.["hold_id"]), "--reason", "settled", "--yes")).code).toBe(0);
  });

  test("can't leave out a purpose that has events, even if an earlier policy retired it", async () => {
    const file = await fileOf([PAYMENTS, OTHERS], { payment: "payments" }, "others");
    const refused = await drs("purpose", "apply", file);
    expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/hold events: default/) });
  });
});

describe("purpose apply ends with 1 and names the problem", () => {
  test("of a file that does not exist", async () => {
    expect(await drs("purpose", "apply", join(folder, "nowhere.yaml"))).toMatchObject({ code: 1 });
  });

  test("of a file that is no policy", async () => {
    const { code, stderr } = await drs("purpose", "apply", await fileOf([{ id: "x", raw_retention: "-P1D" }], {}, "y"));
    expect(code).toBe(1);
    expect(stderr).toMatch(/purposes\.0\.raw_retention: must be[^]*unmapped: must be/);
  });
});

test("a policy is active as soon as it is applied, and a second application of the same file is accepted", async () => {
  const fresh = await database.environment();
  const otherSystem = await openTestSystem(fresh);
  const running = await startServer({ ...fresh, DRS_THROTTLE_RATE: "0" });
  try {
    const who = await makeCredentials(otherSystem, "one");
    const purposes = [PAYMENTS, OTHERS];
    for (const purpose of ["payments", "others", "payments"]) {
      const file = await fileOf(purposes, { [who.actionType]: purpose }, "others");
      const child = runWithBreakGlass(fresh, "purpose", "apply", file, "--yes");
      // The command is still running when the policy becomes active.
      await until(async () => (await mappedTo(otherSystem, who.actionType)) === purpose);
      const body = JSON.stringify({ ...transport(who) });
      const answer = await send({ url: running.url, headers: authorized(who), body });
      expect(answer.status, answer.text).toBe(201);
      const { rows } = await otherSystem.pool.query(
        "select p.id from event e join purpose p on p.code = e.purpose where e.event_id = $1",
        [answer.json["event_id"]],
      );
      expect(rows).toEqual([{ id: purpose }]);
      expect(await child).toMatchObject({ code: 0, stderr: "" });
      expect(await runWithBreakGlass(fresh, "purpose", "apply", file, "--yes"), "again").toMatchObject({
        code: 0,
        stderr: "",
      });
    }
  } finally {
    await running.stop();
    await otherSystem.close();
  }
});

async function mappedTo({ pool }: System, actionType: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    `select p.id from purpose_mapping m join purpose p on p.code = m.purpose
      where m.action_type = $1 order by m.policy_version desc limit 1`,
    [actionType],
  );
  return rows[0]?.id;
}

test("the example policy of the docs can be applied to a database that already has events", async () => {
  const fresh = { ...(await database.environment()) };
  const before = await openTestSystem(fresh);
  const past = new Past(before);
  await past.store(0);
  await past.close();
  await before.close();
  const { code, stderr } = await runWithBreakGlass(fresh, "purpose", "apply", "docs/privacy/purposes.yaml");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
