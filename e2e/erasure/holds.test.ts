/** Tests of an erasure of events that a legal hold covers. These events are deleted when the hold ends. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { objects } from "../support/command.ts";
import { ErasureScene } from "../support/erasure-scene.ts";

const scene = new ErasureScene();
const { drs, party, store, read, purposeOf, tablesWith, receiptOf } = scene;

describe("a held event of an erased account", () => {
  test("is deleted and reported if it can't be opened, and kept if it can be opened", async () => {
    const who = await party();
    const [broken, whole] = [await store(who), await store(who)];
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    const placed = objects((await drs("hold", "add", "--account", who.account, ...why, "--json")).stdout)[0];
    await scene.owner.query("set session_replication_role = replica");
    await scene.owner.query("update event set payload = '\\x00' where event_id = $1", [broken.eventId]);
    await scene.owner.query("reset session_replication_role");
    const out = join(scene.folder, "unreadable");
    expect((await drs("account", "export", "--account", who.account, "--out", out, "--reason", "r")).code).toBe(0);
    const exported = objects(await readFile(join(out, "events.ndjson"), "utf8"));
    expect(exported.find(({ event_id }) => event_id === broken.eventId)).toMatchObject({ unreadable: true });
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", "--json");
    expect(run.code).toBe(3);
    expect(objects(run.stdout)[0]).toMatchObject({ events: 1, held: 1, unreadable: 1 });
    expect([await read(broken.eventId), await read(whole.eventId)]).toEqual([undefined, whole.text]);
    await drs("hold", "lift", String(placed?.["hold_id"]), "--reason", "settled", "--yes");
    expect((await drs("retention", "run")).code).toBe(0);
  });

  test("does not prevent the rejection of later events of the account", async () => {
    const who = await party();
    const held = await store(who);
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    const placed = objects((await drs("hold", "add", "--event", held.eventId, ...why, "--json")).stdout)[0];
    const purpose = await purposeOf(held.eventId);
    const reason = ["--reason", "r", "--yes"];
    expect((await drs("erase", "run", "--account", who.account, "--purpose", purpose, ...reason)).code).toBe(3);
    for (const table of ["session_token", "action"]) {
      await scene.owner.query(`delete from ${table} where account = $1`, [who.account]);
    }
    expect((await drs("erase", "run", "--account", who.account, "--refuse-later", ...reason)).code).toBe(3);
    const refused = "select from refused_account where account_mac = $1";
    expect(
      (await scene.owner.query(refused, [scene.system.pseudonymizer.subjectOf("account", who.account)])).rowCount,
    ).toBe(1);
    await drs("hold", "lift", String(placed?.["hold_id"]), "--reason", "settled", "--yes");
    expect((await drs("retention", "run")).code).toBe(0);
  });

  test("is kept with exit code 3 until the hold ends, then deleted", async () => {
    const who = await party();
    const [held, free] = [await store(who), await store(who)];
    const why = ["--reason", "dispute", "--approver", "J. Doe", "--review", "2999-01-31"];
    const placed = objects((await drs("hold", "add", "--event", held.eventId, ...why, "--json")).stdout)[0];
    expect((await drs("backup", "record", "--store", "events", "--at", "-1ms")).code).toBe(0);
    const run = await drs("erase", "run", "--account", who.account, "--reason", "r", "--yes", "--json");
    expect(run.code).toBe(3);
    const [erased] = objects(run.stdout);
    expect(erased).toMatchObject({ events: 1, held: 1, still_held: 1 });
    expect(await scene.receiptOf(String(erased?.["erasure_id"])), "the hold has no end yet").toMatchObject({
      backups: { recorded: [{ store: "events", may_hold_until: null }] },
    });
    expect(run.stderr).toMatch(/hold keeps 1 event/);
    expect([await read(held.eventId), await read(free.eventId)]).toEqual([held.text, undefined]);
    for (const named of [
      ["--account", who.account],
      ["--account", who.account, "--refuse-later"],
      ["--account", who.account, "--purpose", await purposeOf(held.eventId)],
      ["--event", held.eventId],
    ]) {
      const again = await drs("erase", "run", ...named, "--reason", "r", "--yes");
      expect([again.code, again.stderr.includes("hold keeps 1 event")], named.join(" ")).toEqual([3, true]);
    }
    const plan = objects((await drs("erase", "plan", "--event", held.eventId, "--json")).stdout)[0];
    expect(plan).toMatchObject({ events: 0, held: 0, still_held: 1 });
    const waiting = objects((await drs("work", "list", "--json")).stdout).find(({ kind }) => kind === "erasure");
    expect(waiting).toMatchObject({ done: 0, of: 1, waits_for: expect.stringContaining("drs hold list") });
    expect((await drs("retention", "run")).code).toBe(0);
    expect(await read(held.eventId)).toBe(held.text);
    const ends = async (sequence: number): Promise<unknown> =>
      scene.system.pool.query("select record_ended_hold($1, gen_random_uuid(), '\\x00', now(), $2)", [
        sequence,
        placed?.["hold_id"],
      ]);
    const { rows: head } = await scene.owner.query<{ next: number }>(
      "select max(sequence)::int + 1 as next from journal_entry",
    );
    const next = head[0]?.next ?? 0;
    await expect(ends(next), "while the hold is active").rejects.toMatchObject({ code: "23001" });
    await drs("hold", "lift", String(placed?.["hold_id"]), "--reason", "settled", "--yes");
    const lifted = objects((await drs("erase", "plan", "--event", held.eventId, "--json")).stdout)[0];
    expect(lifted, "no hold keeps the event any more").toMatchObject({ held: 0, still_held: 0, released: 1 });
    await expect(ends(next + 1), "while the copy of the hold exists").rejects.toMatchObject({ code: "23001" });
    const another = await drs("hold", "add", "--account", who.account, ...why);
    expect(another, "a new hold does not bring the event back").toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/only its copy is left/),
    });
    await scene.owner.query("create table aside as table held_event");
    await scene.owner.query("delete from held_event");
    await expect(ends(next + 2), "with a number that is not the next one").rejects.toMatchObject({ code: "23001" });
    await scene.owner.query("insert into held_event select * from aside");
    await scene.owner.query("drop table aside");
    expect(await read(held.eventId)).toBeUndefined();
    expect((await drs("retention", "run")).code).toBe(0);
    expect((await scene.owner.query("select from held_event")).rowCount).toBe(0);
    expect(await tablesWith(who.account)).toEqual([]);
    const [end] = objects((await drs("erase", "list", "--json")).stdout);
    expect(end).toMatchObject({ kind: "hold", destroyed_keys: [placed?.["hold_id"]] });
    const [refusal, begun] = objects((await drs("erase", "list", "--account", who.account, "--json")).stdout);
    expect(refusal).toMatchObject({ kind: "account", events: 0, held: 0 });
    expect(begun).toMatchObject({ kind: "account", held: 1, still_held: 0 });
    expect(begun?.["completed_at"]).not.toBeNull();
    const final = await receiptOf(String(begun?.["erasure_id"]));
    expect(final).toMatchObject({ completed_at: expect.any(String), finished_at: begun?.["finished_at"] });
    expect(
      Object.values(final["backups"] as object),
      "the receipt says from when on backups contain nothing",
    ).not.toContain(null);
  });
});
