/** Tests of `drs erase`, and of the records of an erasure: the journal, the audit log and the receipt. */
import { createPrivateKey, randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CompactSign } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { objects } from "../support/command.ts";
import { ErasureScene } from "../support/erasure-scene.ts";

const scene = new ErasureScene();
const { drs, party, store, erase, read, purposeOf, receiptOf, entries } = scene;

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

describe("drs erase", () => {
  /** Adds entries, so that the journal has more than five even if only one test of this file runs. */
  beforeAll(async () => {
    for (let count = 0; count < 6; count++) await erase("--account", (await party()).account);
  });

  test.each([
    ["nothing named", ["--reason", "r"]],
    ["two things", ["--account", "a", "--event", randomUUID(), "--reason", "r"]],
    ["no reason", ["--account", "a"]],
    ["a purpose without its account", ["--purpose", "default", "--reason", "r"]],
  ])("rejects %s as wrong usage", async (_, args) => {
    expect(await drs("erase", "run", ...args, "--yes")).toMatchObject({ code: 2, stdout: "" });
  });

  test("stops before anything is erased if the receipt can't be written", async () => {
    const who = await party();
    const stored = await store(who);
    const nowhere = ["--receipt", join(scene.folder, "nowhere", "receipt.jws")];
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", ...nowhere);
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("Nothing was erased")]);
    expect(await read(stored.eventId)).toBe(stored.text);
  });

  test("lists the erasure of a purpose among the erasures of its account", async () => {
    const who = await party();
    const { eventId } = await store(who);
    await erase("--account", who.account, "--purpose", await purposeOf(eventId));
    const found = objects((await drs("erase", "list", "--account", who.account, "--json")).stdout);
    expect(found).toMatchObject([{ kind: "purpose", events: 1 }]);
  });

  test("leaves a journal in which the doctor finds a change before the latest entry, and the doctor still makes its other checks", async () => {
    const entry = join(scene.folder, "journal", "000000", "000000001.json");
    const text = await readFile(entry, "utf8");
    await writeFile(entry, text.replace(/"at":"2/, '"at":"3'));
    const broken = await drs("doctor", "--json");
    await writeFile(entry, text);
    expect(broken.code).toBe(1);
    const findings = objects(broken.stdout);
    expect(findings.filter(({ ok }) => ok !== true)).toEqual([
      {
        what: "erasures",
        ok: false,
        detail: expect.stringContaining("entry 1 of the erasure journal was changed: restore the journal"),
      },
    ]);
    expect(findings).toContainEqual(expect.objectContaining({ what: "database", ok: true }));
    expect((await drs("doctor")).code).toBe(0);
  });

  test("reports that a subject is unknown, erases it from backups, and requires --yes without a terminal", async () => {
    const unknown = (...args: readonly string[]): ReturnType<typeof drs> =>
      drs("erase", "run", "--account", "unknown-account", "--reason", "r", ...args);
    const isUnknown = expect.stringMatching(/Nothing is known of this subject here: check the spelling\. .*backup/);
    const inBackups = expect.stringMatching(/^Nothing is known of this subject here\. .*backup/);
    const journalled = await entries();
    expect(await unknown("--dry-run")).toMatchObject({ code: 0, stdout: isUnknown });
    expect(await unknown("--yes")).toMatchObject({ code: 1, stdout: "", stderr: isUnknown });
    expect(await entries()).toBe(journalled);
    expect(await unknown("--unknown")).toMatchObject({ code: 2, stdout: "", stderr: inBackups });
    expect(await unknown("--unknown", "--yes")).toMatchObject({ code: 0, stdout: inBackups, stderr: "" });
    expect(await unknown("--yes"), "after the subject was erased as unknown").toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Nothing is left\./),
    });
    expect(await entries()).toBe(journalled + 1);
    const who = await party();
    const stored = await store(who);
    const asked = await drs("erase", "run", "--account", who.account, "--reason", "r");
    expect(asked).toMatchObject({ code: 2, stdout: "" });
    expect(asked.stderr).toMatch(/^To erase: 1 event, .*--yes/);
    const dry = await drs("erase", "run", "--account", who.account, "--reason", "r", "--dry-run", "--json");
    expect(objects(dry.stdout)[0]).toMatchObject({ events: 1, dry_run: true });
    expect(await read(stored.eventId)).toBe(stored.text);
  });

  test("names no account in the journal, and writes each order to the audit", async () => {
    const files = await readdir(join(scene.folder, "journal"), { recursive: true });
    const texts = await Promise.all(
      files
        .filter((name) => name.endsWith(".json"))
        .map((name) => readFile(join(scene.folder, "journal", name), "utf8")),
    );
    expect(texts.length).toBeGreaterThan(5);
    for (const text of texts) expect(text).not.toMatch(/erased-\d/);
    const orders = objects((await drs("audit", "list", "--limit", "1000", "--json")).stdout).filter(
      ({ operation }) => operation === "erase.run",
    );
    expect(new Set(orders.map(({ outcome }) => outcome))).toEqual(new Set(["begun", "done"]));
    expect(JSON.stringify(orders)).not.toMatch(/erased-\d/);
  });
});

describe("a receipt", () => {
  test("of an erasure has the same time as the list of erasures", async () => {
    const { account } = await party();
    const { erasure_id } = await erase("--account", account);
    const [listed] = objects((await drs("erase", "list", "--account", account, "--json")).stdout);
    expect((await receiptOf(String(erasure_id)))["finished_at"]).toBe(listed?.["finished_at"]);
  });

  test("of an erasure names recorded backups that may have the data until their period ends, and no other ones", async () => {
    const recordedIn = async (what: "--account" | "--event" = "--account"): Promise<unknown> => {
      const who = await party();
      const { eventId } = await store(who);
      const { erasure_id } = await erase(what, what === "--event" ? eventId : who.account);
      return ((await receiptOf(String(erasure_id)))["backups"] as { recorded: unknown }).recorded;
    };
    const insert =
      "insert into recorded_backup (store, taken_at, recorded_by) values ($1, now() + $2::interval, 'cron')";
    const record = async (of: string, at: string): Promise<void> =>
      expect(await drs("backup", "record", "--store", of, "--at", at)).toMatchObject({ code: 0, stderr: "" });
    expect(await recordedIn(), "nothing is claimed without a record").toEqual([]);
    await scene.owner.query(insert, ["keys", "-8 days"]);
    expect(await recordedIn(), "the period of 7 days has ended").toEqual([]);
    const now = scene.system.clock.now();
    const at = new Date(now).toISOString();
    await record("events", at);
    await record("journal", at);
    await scene.owner.query(insert, ["events", "1 day"]);
    const until = (days: number): string => new Date(now + days * 86_400_000).toISOString();
    const ofEvents = { store: "events", taken_at: at, may_hold_until: until(30) };
    expect(await recordedIn()).toEqual([ofEvents]);
    await record("keys", at);
    const ofKeys = { store: "keys", taken_at: at, may_hold_until: until(7) };
    expect(await recordedIn()).toEqual(expect.arrayContaining([ofEvents, ofKeys]));
    expect(await recordedIn("--event"), "no secret was destroyed").toEqual([ofEvents]);
    await scene.owner.query("delete from recorded_backup");
  });

  test("is verified by the right key only, and only if no bit was changed", async () => {
    const who = await party();
    await store(who);
    const file = join(scene.folder, "signed.jws");
    const keyFile = join(scene.folder, "key.pem");
    const erasure = await erase("--account", who.account, "--receipt", file);
    await writeFile(keyFile, (await drs("receipt", "key")).stdout);
    const verified = await drs("receipt", "verify", file, "--public-key", keyFile, "--json");
    expect(verified.stderr).toBe("");
    expect(objects(verified.stdout)[0]).toMatchObject({
      receipt: "erasure",
      erasure_id: erasure["erasure_id"],
      events: 1,
      destroyed_keys: erasure["destroyed_keys"],
      reason: "request 17",
      policy_version: expect.any(Number),
      backups: { payloads_unreadable_after: expect.any(String), attributes_gone_after: expect.any(String) },
    });
    expect(verified.stdout).not.toContain(who.account);
    const text = (await readFile(file, "utf8")).trim();
    const lastOf = (characters: string): string =>
      text.slice(0, -1) + (characters[characters.indexOf(text.at(-1) ?? "") ^ 1] ?? "");
    const bad = join(scene.folder, "bad.jws");
    const changed = [lastOf(BASE64URL), ` ${text}`, `\ufeff${text}`, `${text}==`, `${text}.`, text.slice(0, -1), ""];
    for (let at = 0; at < text.length; at += 29) {
      const flipped = BASE64URL[BASE64URL.indexOf(text[at] ?? "") ^ 1] ?? "A";
      changed.push(text.slice(0, at) + flipped + text.slice(at + 1));
    }
    for (const one of changed) {
      await writeFile(bad, one);
      expect((await drs("receipt", "verify", bad, "--public-key", keyFile)).code, one).toBe(1);
    }
    // A signature by the key of receipts, over a text that is no receipt.
    const seed = await scene.system.secrets.find("receipts/1");
    const head = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed ?? Buffer.alloc(0)]);
    const signing = createPrivateKey({ key: head, format: "der", type: "pkcs8" });
    const said = Buffer.from('{"receipt":"erasure"}');
    await writeFile(bad, await new CompactSign(said).setProtectedHeader({ alg: "Ed25519" }).sign(signing));
    expect((await drs("receipt", "verify", bad, "--public-key", keyFile)).stderr).toContain("no receipt");
    expect((await drs("retention", "run")).code).toBe(0);
    const run = objects((await drs("retention", "status", "--json")).stdout)[0]?.["runs"] as { run_id: string }[];
    const ofRun = objects((await drs("receipt", "get", run[0]?.run_id ?? "", "--json")).stdout)[0];
    await writeFile(bad, `${String(ofRun?.["receipt"])}\n`);
    const expiry = objects((await drs("receipt", "verify", bad, "--public-key", keyFile, "--json")).stdout)[0];
    expect(expiry).toMatchObject({
      receipt: "expiry",
      actor: expect.stringMatching(/^cli:/),
      reason: expect.any(String),
      destroyed_keys: expect.any(Array),
      held: expect.any(Number),
      backups: expect.any(Object),
    });
  });
});
