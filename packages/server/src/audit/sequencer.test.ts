/** Tests of the audit log in the database: its checkpoints, and attacks on it. */
import { createSecretKey, randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { newEvent } from "../store/events/new-event.fixture.ts";
import { openEventStore } from "../store/events/event-store.fixture.ts";
import { inSnapshot, inTransaction, withOwner } from "../store/postgres/database.ts";
import type { Transaction } from "../store/postgres/executor.ts";
import { listAudit, writeAudit } from "./audit.ts";
import { insertEntries } from "./entries.ts";
import { checkpointDirectory } from "./checkpoint-directory.ts";
import type { CheckpointSink } from "./checkpoint-sink.ts";
import { readLog } from "./log-table.ts";
import { signOutsideLane } from "../store/audit-record/lane.ts";
import { INGEST, ingested, logKeyOf, read } from "./log/log.fixture.ts";
import { formatLogKey, type LogKey, parseLogKey, signCheckpoint } from "./log/checkpoint.ts";
import { leafHash } from "./log/merkle.ts";
import { type Verification, verifyLog } from "./log/verify.ts";
import { closeReview, openReview } from "./reviews.ts";
import { extendLog, type SequencerPorts, startEpoch, type StartedEpoch } from "./sequencer.ts";

const opened = useTestSystem("test");
const ORIGIN = "drs-audit/test";
const key = logKeyOf("log");
const publicKey = parseLogKey(formatLogKey(ORIGIN, key)) as LogKey;
const AGENT = { actor: "cli:anna", via: "direct", outcome: "done" } as const;
const LATER_MS = 3_600_000;

let folder: string;
let sink: CheckpointSink & { isAway: boolean };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drs-audit-"));
  const directory = checkpointDirectory("a directory", folder);
  sink = {
    isAway: false,
    name: "a directory",
    readCheckpoint: async () => (sink.isAway ? Promise.reject(new Error("away")) : directory.readCheckpoint()),
    writeCheckpoint: (note, at) => directory.writeCheckpoint(note, at),
  };
});
afterEach(() => rm(folder, { recursive: true }));

const portsOf = (): SequencerPorts => {
  const { clock, audit } = opened.system;
  return { clock, audit, key, publicKey, sinks: [sink] };
};

const extend = async (): Promise<readonly unknown[]> =>
  (await withOwner(opened.system.administration, (owner) => extendLog(owner, portsOf()))).errors;

const write = (operation = "o"): Promise<string> =>
  writeAudit(opened.system.pool, opened.system.audit, { ...AGENT, operation });

async function store(events: number): Promise<void> {
  const eventStore = await openEventStore(opened.system);
  for (let index = 0; index < events; index++) await eventStore.append(newEvent());
  await eventStore.close();
}

async function verify(afterMs = 0, surfaces = opened.system.audit.surfaces): Promise<Verification> {
  const kept = await sink.readCheckpoint();
  const outside = kept === undefined ? [] : [kept];
  return inSnapshot(opened.system.database, (snapshot) =>
    verifyLog(readLog(snapshot), { key: publicKey, outside, surfaces, now: Date.now() + afterMs }),
  );
}

/** Runs SQL as an attacker who owns the tables and disables triggers. */
async function attack(text: string, values: readonly unknown[] = []): Promise<void> {
  await opened.owner.query("set session_replication_role = replica");
  await opened.owner.query(text, [...values]);
  await opened.owner.query("set session_replication_role = origin");
}

/** The columns and values of an entry that a login of the database inserts, as SQL. */
function forgedColumns(changes: Readonly<Record<string, string>>): { columns: string; values: string } {
  const row = {
    entry_id: "gen_random_uuid()",
    at: "transaction_time()",
    actor: "'j.doe (console session x)'",
    via: "'console'",
    operation: "'event.read_raw'",
    outcome: "'done'",
    occurrences: "1",
    record: "'x'",
    mac: "decode(repeat('00', 32), 'hex')",
    ...changes,
  };
  return { columns: Object.keys(row).join(", "), values: Object.values(row).join(", ") };
}

describe("the log", () => {
  it("has every entry in the order of the entry's lane, and each pass adds the new entries", async () => {
    await store(3);
    await write();
    expect(await extend()).toEqual([]);
    expect(await verify()).toMatchObject({ verdict: 0, size: 4, confirmed: 4, waiting: 0, findings: [] });
    await store(2);
    expect(await verify()).toMatchObject({ verdict: 0, size: 4, waiting: 2 });
    await extend();
    await extend();
    expect(await verify()).toMatchObject({ verdict: 0, size: 6, confirmed: 6 });
    expect(await readdir(folder), "one file for each day").toHaveLength(1);
  });

  it("has new entries in the order of their lane, also if an earlier one has a later time and id", async () => {
    const lane = opened.system.audit.lane();
    for (const number of [2, 1]) {
      await insertEntries(opened.system.pool, lane.sign([{ ...ingested(number), outcome: "replayed" }]));
      lane.acknowledge();
    }
    expect(await verify()).toMatchObject({ findings: [], overdue: 2 });
  });

  it("waits for a running transaction, and misses none of its entries", async () => {
    await inTransaction(opened.system.pool, async (transaction) => {
      await writeAudit(transaction, opened.system.audit, { ...AGENT, operation: "slow" });
      await write("quick");
      await extend();
    });
    await extend();
    expect(await verify()).toMatchObject({ verdict: 0, size: 2 });
  });

  it("misses no entry of an older transaction that is committed between two pages", async () => {
    const { pool, audit, administration } = opened.system;
    const older = await pool.connect();
    await older.query("begin");
    const olderId = await writeAudit(older as unknown as Transaction, audit, { ...AGENT, operation: "older" });
    // More entries than one statement inserts.
    for (let count = 0; count < 300; count++) await write("newer");
    let pages = 0;
    await withOwner(administration, async (client) => {
      const query = client.query.bind(client) as (...args: readonly unknown[]) => Promise<unknown>;
      const betweenPages = async (...args: readonly unknown[]): Promise<unknown> => {
        const result = await query(...args);
        if (String(args[0]).includes("insert into audit_leaf") && ++pages === 1) await older.query("commit");
        return result;
      };
      await extendLog(Object.assign(Object.create(client) as typeof client, { query: betweenPages }), portsOf());
    });
    older.release();
    expect(pages).toBeGreaterThan(2);
    const { rows } = await opened.owner.query("select from audit_leaf where entry_id = $1", [olderId]);
    expect(rows).toHaveLength(1);
    expect(await verify()).toMatchObject({ verdict: 0, size: 301, waiting: 0 });
  });

  it("is verified without the keys of the surfaces, as when the key store is away", async () => {
    await store(2);
    await extend();
    expect(await verify(0, {} as never)).toMatchObject({ verdict: 0, size: 2 });
  });

  it("continues while a sink is away, which gets the latest checkpoint when it is back", async () => {
    await write();
    await extend();
    sink.isAway = true;
    for (let hour = 0; hour < 3; hour++) {
      await write();
      expect(await extend()).toHaveLength(1);
    }
    sink.isAway = false;
    expect(await verify()).toMatchObject({ verdict: 3, size: 4, confirmed: 1 });
    expect(await extend()).toEqual([]);
    expect(await verify()).toMatchObject({ verdict: 0, confirmed: 4 });
  });

  it("includes a flood of entries", async () => {
    const entries = Array.from({ length: 12_000 }, (_, index) =>
      opened.system.audit.sign({ ...read(index), entryId: randomUUID(), at: Date.now() }),
    );
    await insertEntries(opened.system.pool, entries);
    await extend();
    expect(await verify()).toMatchObject({ verdict: 0, size: 12_000, confirmed: 12_000 });
  });
});

/** Restores the state of an earlier backup and adds new entries. */
async function rollBack(): Promise<void> {
  await extend();
  await store(2);
  await extend();
  await attack("delete from audit_leaf where leaf >= 4; delete from audit_checkpoint where size > 4");
  await attack("delete from audit_entry e where not exists (select from audit_leaf l where l.entry_id = e.entry_id)");
  await write();
}

const ORDER = { agent: { actor: "cli:anna", via: "direct" }, reason: "the disk failed" } as const;

const start = (): Promise<StartedEpoch> =>
  withOwner(opened.system.administration, (owner) => startEpoch(owner, portsOf(), ORDER));

describe("a restored database", () => {
  beforeEach(async () => {
    await store(3);
    await write();
  });

  it("continues in a new epoch, which is reported until its review is closed", async () => {
    await rollBack();
    const { epoch, reviewId, errors } = await start();
    expect([epoch, errors]).toEqual([2, []]);
    expect(await sink.readCheckpoint()).toMatch(/^drs-audit\/test\/2\n3\n/);
    expect(await verify()).toMatchObject({ verdict: 6, findings: [{ kind: "restored" }], size: 7, confirmed: 7 });
    await inTransaction(opened.system.pool, (transaction) =>
      closeReview(transaction, opened.system.audit, reviewId, { ...ORDER, isAlone: true }),
    );
    await store(1);
    expect(await extend()).toEqual([]);
    expect(await verify()).toMatchObject({ verdict: 0, findings: [], size: 9, confirmed: 9 });
  });

  it("begins no epoch while a sink is away, nor if the log has all entries of the sinks' checkpoints", async () => {
    await extend();
    await expect(start()).rejects.toMatchObject({ code: "state-conflict" });
    await rollBack();
    sink.isAway = true;
    await expect(start()).rejects.toThrow("away");
  });

  it("gives the checkpoint of the new epoch to a sink that was away", async () => {
    const late = sink;
    await rollBack();
    const old = await late.readCheckpoint();
    await start();
    await late.writeCheckpoint(old ?? "", new Date());
    expect(await extend()).toEqual([]);
    expect(await late.readCheckpoint()).toMatch(/^drs-audit\/test\/2\n/);
  });
});

describe("an attack", () => {
  beforeEach(async () => {
    await store(3);
    await write();
  });

  const review = (entryId: string) =>
    inTransaction(opened.system.pool, async (transaction) => {
      const reviewId = await openReview(transaction, opened.system.audit, entryId, ORDER);
      return closeReview(transaction, opened.system.audit, reviewId, { ...ORDER, isAlone: false });
    });
  const findings = async (afterMs = 0): Promise<string[]> => (await verify(afterMs)).findings.map(({ what }) => what);

  it("that changes an entry before it is in the log is found by its MAC, or by its columns", async () => {
    await attack("update audit_entry set actor = 'another' where operation = 'o'");
    expect(await findings()).toEqual([expect.stringMatching(/^Columns of .*: actor\.$/)]);
    await attack("update audit_entry set record = overlay(record placing 'x' from 40) where operation = 'o'");
    await extend();
    expect(await verify()).toMatchObject({ verdict: 6 });
  });

  it("that changes an entry of the log is found", async () => {
    await extend();
    await attack("update audit_entry set record = overlay(record placing 'x' from 90) where operation = 'o'");
    expect(await findings()).toContain("The entry of leaf 3 was changed.");
  });

  it("that removes an entry, with or without its leaf, is found", async () => {
    await extend();
    await attack("delete from audit_entry where operation = 'o'");
    expect(await findings()).toEqual(["The entry of leaf 3 is missing."]);
    await attack("delete from audit_leaf where leaf = 3");
    expect((await verify()).verdict).toBe(6);
  });

  it("that forges an entry of an administrator with the login of ingestion is found", async () => {
    const forged = signOutsideLane(INGEST, { ...read(1), entryId: randomUUID(), at: Date.now(), via: "api" });
    await insertEntries(opened.system.pool, [forged]);
    await extend();
    expect(await findings()).toEqual([expect.stringContaining("has no MAC of a surface")]);
  });

  it("that inserts entries neither stops the log nor is in it as an act, and is reported until it was reviewed", async () => {
    const { pool } = opened.system;
    const ofAnother = { surface: "direct", key: createSecretKey(Buffer.alloc(32, 1)) } as const;
    const entryOf = () => ({ ...read(1), entryId: randomUUID(), at: Date.now() });
    await write("copied");
    const forged = signOutsideLane(ofAnother, entryOf());
    const columnsOfOther = () => ({ record: signOutsideLane(ofAnother, entryOf()).record });
    const unreadable = { ...signOutsideLane(ofAnother, entryOf()), bytes: Buffer.from("no record") };
    const withoutJson = { ...signOutsideLane(ofAnother, { ...entryOf(), detail: "no JSON" }), ...columnsOfOther() };
    await insertEntries(pool, [forged, unreadable, withoutJson]);
    const columns = "via, operation, outcome, occurrences, record, mac";
    const copy = `insert into audit_entry (entry_id, at, actor, ${columns})
      select gen_random_uuid(), at, 'cli:eve', ${columns} from audit_entry where operation = 'copied'`;
    await pool.query(copy);
    const extendNow = () => withOwner(opened.system.administration, (owner) => extendLog(owner, portsOf()));
    expect((await extendNow()).unverified.count).toBe(4);
    expect((await extendNow()).unverified.count, "reported once").toBe(0);
    expect(await verify()).toMatchObject({ verdict: 6, confirmed: 9 });
    expect(await findings()).toHaveLength(4);
    const { rows } = await opened.owner.query<{ entry_id: string; verified: boolean }>(
      "select entry_id, verified from audit_leaf order by leaf",
    );
    const unverified = rows.flatMap(({ entry_id, verified }) => (verified ? [] : [entry_id]));
    expect(unverified).toHaveLength(4);
    const shown = await listAudit(pool, () => opened.system.secrets, { limit: 20 });
    for (const id of unverified) {
      expect(shown.find(({ entry_id }) => entry_id === id)).toMatchObject({ actor: "unverified", verified: false });
    }
    for (const id of unverified) await review(id);
    await extend();
    expect(await verify()).toMatchObject({ verdict: 0, findings: [] });
    await insertEntries(pool, [signOutsideLane(ofAnother, entryOf())]);
    await extend();
    expect(await verify()).toMatchObject({ verdict: 6 });
    expect(await findings(), "what was reviewed is closed").toHaveLength(1);
  });

  it.each([
    ["a time that is none", "at", "'infinity'"],
    ["a time that no reader writes", "at", "'0044-03-15 BC'"],
    ["a count whose sum is out of range", "occurrences", "9223372036854775807"],
    ["a record that fills the memory of a worker", "record", "decode(repeat('41', 1048577), 'hex')"],
    ["columns that fill the memory of a worker", "reason", "repeat(chr(1), 16384)"],
    ["a place that JavaScript rounds", "lane_number", "9007199254740993"],
  ])("that inserts an entry with %s is refused by the database", async (_, column, value) => {
    const { columns, values } = forgedColumns({ [column]: value });
    const inserting = opened.system.pool.query(`insert into audit_entry (${columns}) values (${values})`);
    await expect(inserting).rejects.toMatchObject({ code: "23514" });
  });

  it("that inserts large entries makes a verification read few of them at a time, before and after a pass", async () => {
    const { columns, values } = forgedColumns({ record: "decode(repeat('41', 1048576), 'hex')" });
    await opened.system.pool.query(`insert into audit_entry (${columns}) select ${values} from generate_series(1, 12)`);
    const largestPage = () =>
      inSnapshot(opened.system.database, async (snapshot) => {
        const sizes: number[] = [];
        const counting = {
          query: async (...args: Parameters<typeof snapshot.query>) => {
            const result = await snapshot.query(...args);
            const rows = result.rows as readonly { readonly record?: Buffer }[];
            sizes.push(rows.reduce((bytes, { record }) => bytes + (record?.length ?? 0), 0));
            return result;
          },
        };
        for await (const item of readLog(counting as typeof snapshot)) expect(item).toBeDefined();
        return Math.max(...sizes);
      });
    const limit = 8 * 2 ** 20;
    expect(await largestPage()).toBeLessThanOrEqual(limit);
    await extend();
    expect(await largestPage()).toBeLessThanOrEqual(limit);
  });

  it("that takes the next place in the lane of another login does not fail the entry of that login", async () => {
    const lane = opened.system.audit.lane();
    const nextEntry = () => lane.sign([{ ...read(1), entryId: randomUUID(), at: Date.now() }]);
    await insertEntries(opened.system.pool, nextEntry());
    lane.acknowledge();
    const { columns, values } = forgedColumns({ lane: "lane", lane_number: "lane_number + 1", login: "'another'" });
    await opened.owner.query(
      `insert into audit_entry (${columns}) select ${values} from (select lane, lane_number from audit_entry
        where lane is not null order by lane_number desc limit 1) e`,
    );
    await insertEntries(opened.system.pool, nextEntry());
  });

  it("that inserts a closed review closes no finding", async () => {
    const key = createSecretKey(Buffer.alloc(32, 1));
    const entryOf = () => ({ ...read(1), entryId: randomUUID(), at: Date.now() });
    const forged = signOutsideLane({ surface: "direct", key }, entryOf());
    await insertEntries(opened.system.pool, [forged]);
    await extend();
    const detail = JSON.stringify({ leaf_hash: leafHash(forged.bytes, forged.mac).toString("hex") });
    const closed = { ...entryOf(), operation: "audit.review", outcome: "closed", detail };
    await insertEntries(opened.system.pool, [signOutsideLane({ surface: "direct", key }, closed)]);
    await extend();
    expect(await findings()).toHaveLength(2);
  });

  it("that hides an entry by marking it as unverified is found", async () => {
    await extend();
    await attack("update audit_leaf set verified = false where leaf = 3");
    expect(await findings()).toEqual([expect.stringContaining("leaf 3 (entry")]);
  });

  it("that forks a lane is refused by the database", async () => {
    const lane = opened.system.audit.lane();
    const entryOf = () => ({ ...read(1), entryId: randomUUID(), at: Date.now() });
    await insertEntries(opened.system.pool, lane.sign([entryOf()]));
    await expect(insertEntries(opened.system.pool, lane.sign([entryOf()]))).rejects.toMatchObject({ code: "23505" });
  });

  it("that keeps an entry out of the log is reported after a minute", async () => {
    await extend();
    await write();
    expect(await verify(LATER_MS)).toMatchObject({ verdict: 3, overdue: 1 });
  });

  it("by which the log was rolled back, or yesterday's backup restored, gets no checkpoint, and is found", async () => {
    await rollBack();
    await expect(extend()).rejects.toThrow("a checkpoint kept outside has 6 entries, the database has 4");
    expect(await findings()).toEqual(["A checkpoint kept outside has 6 entries; the log has 4."]);
  });

  it("by which the log was rolled back to a state before or after the start of an epoch is found", async () => {
    await rollBack();
    await start();
    await attack("delete from audit_leaf where epoch = 2; delete from audit_checkpoint where epoch = 2");
    await expect(extend()).rejects.toMatchObject({ code: "audit-log-broken" });
    expect((await verify()).findings.at(-1)?.what).toMatch(/does not have its epoch/);
    expect(await start()).toMatchObject({ epoch: 3 });
    await attack("update audit_leaf set hash = $1 where epoch = 1 and leaf = 0", [leafHash()]);
    expect(await findings()).toContain("The leaves of epoch 1 differ from what the next epoch names.");
  });

  it("by which a leaf was changed, and checkpoint and roots were adapted, gets no checkpoint, and is found", async () => {
    await extend();
    const kept = await sink.readCheckpoint();
    const tree = { origin: ORIGIN, size: 4, root: leafHash() };
    await attack("update audit_leaf set hash = $1 where leaf = 0", [leafHash()]);
    await attack("update audit_checkpoint set note = $1, roots = array[$2::bytea]", [
      signCheckpoint(tree, key),
      tree.root,
    ]);
    await write();
    await expect(extend()).rejects.toMatchObject({ code: "audit-log-broken" });
    expect(await sink.readCheckpoint()).toBe(kept);
    expect(await verify()).toMatchObject({ verdict: 6 });
  });

  it("by which the kept checkpoint was replaced with one of another key gets no checkpoint", async () => {
    await extend();
    const [today = ""] = await readdir(folder);
    const other = signCheckpoint({ origin: ORIGIN, size: 4, root: leafHash() }, logKeyOf("another"));
    await sink.writeCheckpoint(other, new Date(`${today.slice(0, 10)}T00:00:00Z`));
    await write();
    await expect(extend()).rejects.toThrow("is not of this log");
    expect(await verify()).toMatchObject({ verdict: 1 });
  });
});
