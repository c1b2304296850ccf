/** Tests of the retention of the audit: hashes represent pruned entries, and the other entries are verified. */
import { createSecretKey } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { inOwnerTransaction, inSnapshot, inTransaction, withOwner } from "../store/postgres/database.ts";
import type { Transaction } from "../store/postgres/executor.ts";
import { AuditSigner } from "./audit-signer.ts";
import { writeAudit } from "./audit.ts";
import type { CheckpointSink } from "./checkpoint-sink.ts";
import { formatLogKey, type LogKey, parseLogKey } from "./log/checkpoint.ts";
import { verifyEpochCheckpoint } from "./log/epoch.ts";
import { logKeyOf } from "./log/log.fixture.ts";
import { SURFACES } from "../store/audit-record/record.ts";
import { readLog } from "./log-table.ts";
import { type Verification, verifyLog } from "./log/verify.ts";
import { type Pruned, pruneLog } from "./prune.ts";
import { closeReview, openReview } from "./reviews.ts";
import { extendLog } from "./sequencer.ts";
import { changeSurfaceKeys } from "./surface-keys.ts";

const opened = useTestSystem("test");
const ORIGIN = "drs-audit/test";
const key = logKeyOf("log");
const publicKey = parseLogKey(formatLogKey(ORIGIN, key)) as LogKey;
const AGENT = { actor: "cli:anna", via: "direct" } as const;
const DAY_MS = 86_400_000;

let kept: string | undefined;
/** The signer of another process with separate keys. Without it, the system's signer is used. */
let own: AuditSigner | undefined;
const signer = (): AuditSigner => own ?? opened.system.audit;
/** The id of the second entry. */
let entryId: string;
const sink: CheckpointSink = {
  name: "a sink",
  readCheckpoint: async () => kept,
  writeCheckpoint: async (note) => void (kept = note),
};

const write = (): Promise<string> =>
  writeAudit(opened.system.pool, signer(), { ...AGENT, operation: "o", outcome: "done" });

const extend = async (daysAgo = 0): Promise<readonly unknown[]> => {
  const clock = { now: () => Date.now() - daysAgo * DAY_MS };
  const ports = { clock, audit: signer(), key, publicKey, sinks: [sink] };
  return (await withOwner(opened.system.administration, (owner) => extendLog(owner, ports))).errors;
};

const prune = (days: number, note = kept): Promise<Pruned | undefined> =>
  inOwnerTransaction(opened.system.administration, (owner) =>
    pruneLog(owner, signer(), {
      agent: AGENT,
      retentionMs: days * DAY_MS,
      kept: [note === undefined ? undefined : verifyEpochCheckpoint(note, publicKey)],
    }),
  );

const verify = (): Promise<Verification> =>
  inSnapshot(opened.system.database, (snapshot) =>
    verifyLog(readLog(snapshot), {
      key: publicKey,
      outside: kept === undefined ? [] : [kept],
      surfaces: signer().surfaces,
      replaced: signer().replaced,
      now: Date.now(),
    }),
  );

/** Signs checkpoints of 3, 5 and 6 entries: 50, 40 and 0 days ago. */
beforeEach(async () => {
  [kept, own] = [undefined, undefined];
  await write();
  entryId = await write();
  await write();
  await extend(50);
  await write();
  await write();
  await extend(40);
  await write();
  await extend();
});

describe("drs audit prune", () => {
  it("deletes entries before a checkpoint that is old enough, and the rest of the log can still be verified", async () => {
    expect(await prune(30)).toMatchObject({ entries: 5, epoch: 1, size: 5 });
    expect(await verify()).toMatchObject({ verdict: 0, findings: [], size: 6, from: 5, confirmed: 6, waiting: 1 });
    const left =
      "select (select count(*)::int from audit_entry) as entries, (select count(*)::int from audit_leaf) as leaves";
    expect((await opened.owner.query(left)).rows).toEqual([{ entries: 2, leaves: 1 }]);
    await extend();
    await write();
    expect(await extend()).toEqual([]);
    expect(await verify()).toMatchObject({ verdict: 0, size: 8, from: 5, confirmed: 8 });
  });

  it("deletes nothing that is younger than the retention period", async () => {
    expect(await prune(45)).toMatchObject({ entries: 3, size: 3 });
    expect(await prune(45)).toBeUndefined();
    expect(await prune(60)).toBeUndefined();
    expect(await verify()).toMatchObject({ verdict: 0, from: 3 });
  });

  it("can be repeated later, and the last run explains the start of the log", async () => {
    await prune(45);
    await extend();
    await prune(30);
    await extend();
    expect(await verify()).toMatchObject({ verdict: 0, from: 5, findings: [] });
  });

  it("leaves an entry that says which keys were active at the start", async () => {
    const { pseudonymizer, secrets, clock } = opened.system;
    const keys = Object.fromEntries(
      SURFACES.map((surface, at) => [surface, [createSecretKey(Buffer.alloc(32, at + 1))]]),
    );
    const installation = Buffer.alloc(32);
    const derived = new AuditSigner(installation, pseudonymizer, secrets, clock);
    own = new AuditSigner(installation, pseudonymizer, secrets, clock, keys);
    await opened.owner.query("truncate audit_entry, audit_leaf, audit_checkpoint, audit_review, audit_review_end");
    kept = undefined;
    const forge = (): Promise<string> =>
      writeAudit(opened.system.pool, derived, { ...AGENT, operation: "o", outcome: "done" });
    await forge();
    const change = (transaction: Transaction): Promise<boolean> => changeSurfaceKeys(transaction, signer(), AGENT);
    expect(await inTransaction(opened.system.pool, change)).toBe(true);
    expect(await inTransaction(opened.system.pool, change)).toBe(false);
    await extend(40);
    await write();
    expect(await prune(30)).toMatchObject({ entries: 2 });
    await extend();
    expect(await verify()).toMatchObject({ verdict: 0, findings: [], from: 2 });
    expect(await inTransaction(opened.system.pool, change), "the keys are still active").toBe(false);
    await forge();
    expect(await verify()).toMatchObject({ verdict: 6, findings: [{ kind: "inserted" }] });
  });

  it("deletes no entry while its review is open", async () => {
    const order = { agent: AGENT, reason: "no case behind it" };
    const { pool, audit } = opened.system;
    const review = await inTransaction(pool, (transaction) => openReview(transaction, audit, entryId, order));
    await expect(prune(30)).rejects.toMatchObject({ code: "state-conflict" });
    await inTransaction(pool, (transaction) => closeReview(transaction, audit, review, { ...order, isAlone: true }));
    expect(await prune(30)).toMatchObject({ entries: 5 });
  });

  it("deletes nothing if a sink lags behind the start, or has no checkpoint", async () => {
    const [first] = (await opened.owner.query("select note from audit_checkpoint order by size limit 1")).rows;
    await expect(prune(30, (first as { note: string }).note)).rejects.toMatchObject({ code: "state-conflict" });
    kept = undefined;
    await expect(prune(30)).rejects.toMatchObject({ code: "state-conflict" });
    expect((await verify()).size).toBe(6);
  });

  it("can't be imitated by an attacker, because missing leaves are reported if no entry of `drs audit prune` explains them", async () => {
    await opened.owner.query("delete from audit_leaf where leaf < 5; delete from audit_checkpoint where size < 5");
    expect(await verify()).toMatchObject({ verdict: 6, findings: [{ kind: "removed" }] });
    await opened.owner.query("delete from audit_checkpoint where size < 6; delete from audit_leaf");
    expect(await verify()).toMatchObject({ verdict: 6 });
  });
});
