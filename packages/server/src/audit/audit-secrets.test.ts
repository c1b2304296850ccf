/** Tests of reasons and details of audit entries: they are sealed, and stay readable for a time after an erasure. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { secretId } from "../store/crypto/secrets.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { FIND_SECRETS } from "./audit-secret-table.ts";
import { writeAudit } from "./audit.ts";
import { AGENT, HOUR_MS, PERSONAL, useAuditedAccount } from "./audited-account.fixture.ts";
import { decodeRecord } from "../store/audit-record/record.ts";
import { auditSecretName, openDetail } from "./personal-detail.ts";

const opened = useTestSystem();
const scene = useAuditedAccount(opened);
const { write, writeOf, listed, secretsOf, endedAgo, destroy, rowsOf, planOf } = scene;

describe("reason and detail of an entry", () => {
  it("have a secret that a query finds by an index", async () => {
    const plan = await planOf(FIND_SECRETS, [randomUUID()], Buffer.alloc(16));
    expect(plan).toContain('"Index Cond":"(secret_id = ANY');
  });

  it("are read by listAudit, but no byte of the database contains them in the clear", async () => {
    const id = await write();
    expect(await listed()).toMatchObject([{ entry_id: id, ...PERSONAL, unreadable: false }]);
    const [row] = await rowsOf("select e::text as text, record from audit_entry e where entry_id = $1", id);
    expect(row?.["text"]).not.toMatch(/Jane|phone/);
    expect(String(row?.["record"])).not.toMatch(/Jane|phone/);
  });

  it("are sealed under a secret of the account, which no other account has", async () => {
    await write();
    await write();
    const other = `other-${scene.account}`;
    await write(other);
    expect(await secretsOf()).toHaveLength(1);
    expect(await secretsOf(other)).not.toEqual(await secretsOf());
  });

  it("are sealed under a secret of the installation if the entry is about no account", async () => {
    const id = await writeOf({});
    const [entry] = await rowsOf(
      "select s.subject, s.secret_id is null as none from audit_entry e left join audit_secret s using (secret_id) where entry_id = $1",
      id,
    );
    expect(entry).toEqual({ subject: null, none: false });
  });

  it("need no secret if there are none", async () => {
    await writeAudit(opened.system.pool, opened.system.audit, { ...AGENT, account: scene.account });
    expect(await secretsOf()).toEqual([]);
    expect(await listed()).toMatchObject([{ reason: null, detail: null, unreadable: false }]);
  });

  it("can be opened only in their own entry", async () => {
    const [first, second] = [await write(), await write()];
    const records = await rowsOf("select entry_id, record from audit_entry where entry_id = any ($1)", [first, second]);
    const [one, two] = records.map(({ record }) => decodeRecord(record as Buffer));
    if (!one || !two) throw new Error("no records");
    expect(await openDetail(opened.system.secrets, one)).toEqual(PERSONAL);
    expect(await openDetail(opened.system.secrets, { ...one, sealed: two.sealed })).toBeUndefined();
    expect(await openDetail(opened.system.secrets, { ...one, sealed: Buffer.alloc(3) })).toBeUndefined();
  });

  it("are written without waiting for a transaction that writes about the same account", async () => {
    await inTransaction(opened.system.pool, async (transaction) => {
      await writeAudit(transaction, opened.system.audit, { ...AGENT, ...PERSONAL, account: scene.account });
      await write();
    });
    expect(await secretsOf()).toHaveLength(2);
    expect(await listed()).toMatchObject([PERSONAL, PERSONAL]);
    await endedAgo(HOUR_MS);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }, { unreadable: true }]);
  });

  it("have no secret if the transaction is rolled back, and the next entry gets one", async () => {
    await expect(
      inTransaction(opened.system.pool, async (transaction) => {
        await writeAudit(transaction, opened.system.audit, { ...AGENT, ...PERSONAL, account: scene.account });
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    expect(await secretsOf()).toEqual([]);
    await write();
    expect(await listed()).toMatchObject([PERSONAL]);
  });

  it("get another secret if the key store has lost the previous one, and the loss is still reported", async () => {
    await write();
    const [lost] = await secretsOf();
    await opened.system.keyStore.discard(secretId(auditSecretName(lost?.["secret_id"] as string)));
    opened.system.secrets.forgetRecent();
    await write();
    expect(await listed()).toMatchObject([PERSONAL, { reason: null, detail: null, unreadable: true }]);
    expect(await secretsOf()).toHaveLength(2);
  });
});

describe("after the erasure of the account, reason and detail", () => {
  it("are unreadable after the retention period, not before it; no byte of the entry changes", async () => {
    const id = await write();
    const bytesOf = () => rowsOf("select e::text from audit_entry e where entry_id = $1", id);
    const before = await bytesOf();
    await endedAgo(HOUR_MS);
    await destroy(2 * HOUR_MS);
    expect(await listed()).toMatchObject([PERSONAL]);
    await destroy(HOUR_MS);
    expect(await listed()).toMatchObject([{ entry_id: id, reason: null, detail: null, unreadable: true }]);
    expect(await bytesOf()).toEqual(before);
    const [row] = await secretsOf();
    expect(row?.["destroyed_at"]).toBeInstanceOf(Date);
    const name = auditSecretName(row?.["secret_id"] as string);
    expect(await opened.system.secrets.findDestroyed([name])).toEqual([name]);
  });

  it("are sealed under another secret from then on", async () => {
    await write();
    await endedAgo(HOUR_MS);
    await write();
    await destroy(0);
    expect(await listed()).toMatchObject([PERSONAL, { unreadable: true }]);
  });

  it("are sealed under another secret even if the row of the destroyed one was lost by a restore of the database", async () => {
    await write();
    await endedAgo(HOUR_MS);
    await destroy(0);
    const [destroyed] = await secretsOf();
    await opened.owner.query("delete from audit_secret where secret_id = $1", [destroyed?.["secret_id"]]);
    await write();
    expect(await secretsOf()).toEqual([
      { secret_id: expect.not.stringContaining(String(destroyed?.["secret_id"])) as string, destroyed_at: null },
    ]);
    expect(await listed()).toMatchObject([PERSONAL, { unreadable: true }]);
  });

  it("of other accounts and of the installation remain readable", async () => {
    const other = `other-${scene.account}`;
    await write();
    await write(other);
    await endedAgo(HOUR_MS);
    await destroy(0);
    expect(await listed(other)).toMatchObject([PERSONAL]);
  });
});
