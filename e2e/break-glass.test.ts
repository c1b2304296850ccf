/**
 * Tests of the option `--break-glass`, and of what its use records. On an external database, commands that read
 * payloads or destroy data need this option.
 */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleOf } from "../packages/features/src/bundle.fixture.ts";
import type { System } from "../packages/server/src/runtime/system.ts";
import { call } from "../packages/server/src/cli/call.ts";
import { contextWith, objects, runAsGiven } from "./support/command.ts";
import { connectAsOwner, sharedDatabase, type TestDatabase } from "./support/database.ts";
import { makeCredentials, openTestSystem } from "./support/parties.ts";
import { Past, type PastEvent } from "./support/past-event.ts";
import { useFolder } from "./support/use-folder.ts";

const folder = useFolder();

let database: TestDatabase;
let environment: Record<string, string>;
let system: System;
let past: Past;
let event: PastEvent;

beforeAll(async () => {
  database = await sharedDatabase();
  environment = await database.environment();
  system = await openTestSystem(environment);
  await makeCredentials(system, "customer-1");
  past = new Past(system);
  event = await past.store(0, { account: "customer-1" });
});

afterAll(async () => {
  await past?.close();
  await system?.close();
  await database?.close();
});

const NO_ID = "019a0000-0000-7000-8000-000000000000";
const WHY = ["--reason", "dispute 4711"];
const COMMANDS: readonly (readonly string[])[] = [
  ["event", "get", NO_ID, "--raw", ...WHY],
  ["event", "get", NO_ID, "--raw", "--case", NO_ID],
  ["event", "compare", NO_ID, NO_ID, ...WHY],
  ["event", "show", NO_ID, ...WHY],
  ["account", "export", "--account", "customer-1", "--out", "/nowhere/export", ...WHY],
  ["export", "raw", "--case", NO_ID, "--account=a", "--recipient=x", "--expires=2999-01-31", "--out=/nowhere/raw"],
  ["erase", "run", "--account", "customer-1", "--yes", ...WHY],
  ["key", "destroy", "0123456789abcdef", "--yes"],
  ["feature", "propose", "package.json", ...WHY],
  ["feature", "equivalent", "package.json", ...WHY],
  ["feature", "adopt", "none@1", "--purpose", "default", ...WHY],
  ["feature", "verify"],
  ["feature", "compare", "none@1", "none@2", "--purpose", "default", "--all"],
  ["audit", "prune", "--yes"],
  ["purpose", "apply", "docs/privacy/purposes.yaml", "--yes"],
];

const rows = async (...args: readonly string[]): Promise<Record<string, unknown>[]> =>
  objects((await runAsGiven(environment, ...args, "--json")).stdout);

describe("on an external database, --break-glass", () => {
  test.each(COMMANDS)("is needed, and a command without it changes nothing: %s %s", async (...args) => {
    const { code, stdout, stderr } = await runAsGiven(environment, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("drs login");
    expect(stderr).toContain("--break-glass");
  });

  test("is not needed to read attributes or for a dry run, and is wrong usage if an admin API is configured", async () => {
    for (const args of [
      ["event", "get", event.eventId],
      ["erase", "run", "--account", "customer-1", "--dry-run", ...WHY],
    ]) {
      expect(await runAsGiven(environment, ...args)).toMatchObject({ code: 0, stderr: "" });
    }
    const remote = { DRS_ADMIN_URL: "http://127.0.0.1:9", DRS_ADMIN_TOKEN: "x" };
    const [get = []] = COMMANDS;
    expect((await runAsGiven(remote, ...get)).stderr).toContain("can't be reached");
    expect(await runAsGiven(remote, ...get, "--break-glass")).toMatchObject({ code: 2, stdout: "" });
  });

  test("is also needed by a program that calls an operation without the command line", async () => {
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
    const reading = call(contextWith(environment, sink, sink), "readExactEvent", {
      event_id: event.eventId,
      category: "dispute",
      reason: "dispute 4711",
    });
    await expect(reading).rejects.toMatchObject({ code: "wrong-usage" });
    const policy = await readFile("docs/privacy/purposes.yaml", "utf8");
    const applying = call(contextWith(environment, sink, sink), "applyPolicy", { policy });
    await expect(applying).rejects.toMatchObject({ code: "wrong-usage" });
  });

  test.each([
    ["on the database", []],
    ["with a case", ["--category", "dispute"]],
  ])("marks the entry of a read %s, opens a review and signs a checkpoint", async (_, more) => {
    const get = ["event", "get", event.eventId, "--raw", ...WHY, ...more];
    const read = await runAsGiven(environment, ...get, "--break-glass");
    expect(read).toEqual({ code: 0, stdout: event.exact, stderr: "" });
    const [entry] = await rows("audit", "list", "--event", event.eventId, "--limit", "1");
    expect(entry).toMatchObject({ operation: "event.read_raw", via: "direct", detail: { break_glass: "true" } });
    const id = String(entry?.["entry_id"]);
    const review = (await rows("review", "list")).find(({ entry_id }) => entry_id === id);
    expect(review).toMatchObject({ operation: "event.read_raw" });
    expect(await runAsGiven(environment, "audit", "proof", id)).toMatchObject({ code: 0, stderr: "" });
  });

  test("is needed for a policy that makes events expire earlier, and for no other policy", async () => {
    const apply = async (period: string, ...more: readonly string[]) => {
      const file = join(folder(), "policy.yaml");
      const texts = { title: "t", legal_basis: "l", owner: "o", derived_retention: "P9Y" };
      const purposes = [{ id: "default", ...texts, raw_retention: period }];
      await writeFile(file, JSON.stringify({ purposes, actions: {}, unmapped: "default" }));
      return runAsGiven(environment, "purpose", "apply", file, ...more);
    };
    expect(await apply("P1Y")).toMatchObject({ code: 2, stdout: "" });
    expect((await apply("P1Y", "--dry-run")).stdout).toContain("1 expire earlier");
    expect(await apply("P1Y", "--break-glass")).toMatchObject({ code: 0, stderr: "" });
    expect(await rows("review", "list")).toContainEqual(expect.objectContaining({ operation: "policy.apply" }));
    expect(await apply("P2Y")).toMatchObject({ code: 0, stderr: "" });
    expect(await apply("P1Y")).toMatchObject({ code: 2, stdout: "" });
  });

  test("signs a checkpoint even if the command fails", async () => {
    expect(await runAsGiven(environment, "event", "get", NO_ID, "--raw", ...WHY, "--break-glass")).toMatchObject({
      code: 1,
    });
    const [entry] = await rows("audit", "list", "--event", NO_ID, "--limit", "1");
    expect(entry).toMatchObject({ operation: "event.read_raw", outcome: "not-found" });
    const proof = await runAsGiven(environment, "audit", "proof", String(entry?.["entry_id"]));
    expect(proof).toMatchObject({ code: 0, stderr: "" });
  });

  test("opens a review if a decision about a feature read events and was then rejected", async () => {
    const file = join(folder(), "bundles.json");
    const unknown = bundleOf("({ su }) => su.value ?? null", { id: "unknown", purposes: ["default"] });
    await writeFile(file, JSON.stringify([unknown]));
    const refused = await runAsGiven(environment, "feature", "equivalent", file, ...WHY, "--break-glass");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    const [review, ...others] = (await rows("review", "list")).filter(
      ({ operation }) => operation === "feature.equivalent",
    );
    expect(others).toEqual([]);
    const entry = (await rows("audit", "list", "--limit", "20")).find(
      ({ entry_id }) => entry_id === review?.["entry_id"],
    );
    expect(entry).toMatchObject({ outcome: "begun", reason: "dispute 4711", detail: { break_glass: "true" } });
  });

  test("makes the doctor warn until the reviews that it opened are closed", async () => {
    await runAsGiven(environment, "event", "get", event.eventId, "--raw", ...WHY, "--break-glass");
    const directUse = async () => (await rows("doctor")).find(({ what }) => what === "direct use");
    expect(await directUse()).toMatchObject({ ok: true, severity: "warning", detail: expect.stringContaining("entr") });
    for (const { review_id } of await rows("review", "list")) {
      const close = ["review", "close", String(review_id), "--reason", "the read was justified"];
      const refused = await runAsGiven(environment, ...close);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("another person") });
      expect(await runAsGiven({ ...environment, DRS_APPROVALS: "off" }, ...close)).toMatchObject({ code: 0 });
    }
    expect(await directUse()).toEqual({ what: "direct use", ok: true, detail: expect.stringContaining("reviewed") });
  });

  test("needs the owner's login", async () => {
    const login = `serving_${randomUUID().replaceAll("-", "")}`;
    const owner = await connectAsOwner(environment);
    await owner.query(`create role ${login} login in role drs_service`);
    const url = environment["DRS_DATABASE_URL"]?.replace("//postgres@", `//${login}@`) ?? "";
    const get = ["event", "get", event.eventId, "--raw", ...WHY, "--break-glass"];
    const lesser = await runAsGiven({ ...environment, DRS_DATABASE_URL: url }, ...get);
    expect(lesser).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("DRS_MIGRATION_DATABASE_URL"),
    });
    const named = { DRS_DATABASE_URL: url, DRS_MIGRATION_DATABASE_URL: environment["DRS_DATABASE_URL"] ?? "" };
    expect(await runAsGiven({ ...environment, ...named }, ...get)).toMatchObject({ code: 0, stdout: event.exact });
    await owner.query(`drop role ${login}`);
    await owner.end();
  });
});
