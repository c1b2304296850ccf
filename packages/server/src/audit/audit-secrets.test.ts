/** Tests of reasons and details of audit entries: they are sealed, and stay readable for a time after an erasure. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AWAITED_LOCKS } from "../../../../e2e/support/database.ts";
import { until } from "../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { secretId } from "../crypto/secrets.ts";
import { inOwnerTransaction, inTransaction, withClient } from "../postgres/database.ts";
import { type AuditRow, listAudit, writeAudit } from "./audit.ts";
import { examine } from "../diagnostics/doctor.ts";
import { destroyAuditSecrets, endAuditSecrets } from "./audit-secrets.ts";
import { closeReview, listOpenReviews, openReview } from "./reviews.ts";
import {
  countForgedReviews,
  FIND_OF_SUBJECT,
  findOpenReview,
  findReviewedEntry,
  insertReview,
  isUnderReview,
} from "./review-table.ts";
import { findUnreviewedUse } from "./search-audit.ts";
import { decodeRecord } from "./log/record.ts";
import { FIND_SECRETS } from "./audit-secret-table.ts";
import { auditSecretName, openDetail } from "./personal-detail.ts";

const opened = useTestSystem();
const HOUR_MS = 3_600_000;
let account: string;

beforeEach(() => void (account = `account-${randomUUID()}`));

const AGENT = { actor: "cli:anna", via: "direct", operation: "o", outcome: "done" } as const;
const PERSONAL = { reason: "Jane Doe disputes it", detail: { phone: "+41 79" } };

const writeOf = (of: { readonly account?: string }): Promise<string> =>
  writeAudit(opened.system.pool, opened.system.audit, { ...AGENT, ...PERSONAL, ...of });

const write = (of = account): Promise<string> => writeOf({ account: of });

async function listed(of = account): Promise<readonly AuditRow[]> {
  const { pool, secrets, audit } = opened.system;
  return listAudit(pool, () => secrets, { account: audit.named(of), limit: 10 });
}

const endedAgo = (ms: number): Promise<void> =>
  inOwnerTransaction(opened.system.administration, (owner) =>
    endAuditSecrets(
      owner,
      opened.system.pseudonymizer,
      opened.system.audit.subjectOf(account),
      new Date(Date.now() - ms).toISOString(),
    ),
  );

const destroy = (retentionMs: number): Promise<void> =>
  withClient(opened.system.database, (connection) =>
    destroyAuditSecrets(connection, opened.system.audit, { retentionMs }),
  );

const rowsOf = async (text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
  (await opened.owner.query(text, values)).rows as Record<string, unknown>[];

const secretsOf = (of = account): Promise<Record<string, unknown>[]> =>
  rowsOf("select secret_id, destroyed_at from audit_secret where subject = $1", opened.system.audit.subjectOf(of));

const lockAwaited = (): Promise<void> => until(async () => (await rowsOf(`select ${AWAITED_LOCKS}`)).length > 0);

/** Runs SQL with the privileges of a role. */
async function asRole(role: string, text: string, ...values: readonly unknown[]): Promise<void> {
  await opened.owner.query(`set role ${role}`);
  try {
    await opened.owner.query(text, [...values]);
  } finally {
    await opened.owner.query("reset role");
  }
}

/** An executor, and the rows of each answer that it got. */
function recordingReads() {
  const read: (readonly object[])[] = [];
  const executor = {
    query: async (text: string, values?: readonly unknown[]) => {
      const result = await opened.system.pool.query<never>(text, [...(values ?? [])]);
      read.push(result.rows);
      return result;
    },
  };
  return { executor, read };
}

/** The plan when PostgreSQL avoids a sequential scan if an index can be used. */
const planOf = ({ text }: { readonly text: string }, ...values: unknown[]): Promise<string> =>
  inOwnerTransaction(opened.system.administration, async (owner) => {
    await owner.query("set local enable_seqscan = off");
    return JSON.stringify((await owner.query(`explain (format json) ${text}`, values)).rows);
  });

describe("reason and detail of an entry", () => {
  it("have a secret that an index finds", async () => {
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
    const other = `other-${account}`;
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
    await writeAudit(opened.system.pool, opened.system.audit, { ...AGENT, account });
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

  it("are written without a wait for a transaction that writes about the same account", async () => {
    await inTransaction(opened.system.pool, async (transaction) => {
      await writeAudit(transaction, opened.system.audit, { ...AGENT, ...PERSONAL, account });
      await write();
    });
    expect(await secretsOf()).toHaveLength(2);
    expect(await listed()).toMatchObject([PERSONAL, PERSONAL]);
    await endedAgo(HOUR_MS);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }, { unreadable: true }]);
  });

  it("have no secret in a database that was rolled back", async () => {
    await expect(
      inTransaction(opened.system.pool, async (transaction) => {
        await writeAudit(transaction, opened.system.audit, { ...AGENT, ...PERSONAL, account });
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    expect(await secretsOf()).toEqual([]);
    await write();
    expect(await listed()).toMatchObject([PERSONAL]);
  });

  it("get another secret if the key store has lost the previous one, and the loss is not hidden", async () => {
    await write();
    const [lost] = await secretsOf();
    await opened.system.keyStore.discard(secretId(auditSecretName(lost?.["secret_id"] as string)));
    opened.system.secrets.forgetRecent();
    await write();
    expect(await listed()).toMatchObject([PERSONAL, { reason: null, detail: null, unreadable: true }]);
    expect(await secretsOf()).toHaveLength(2);
  });
});

describe("a secret that a login of the database inserted", () => {
  it.each(["drs_service", "drs_admin"])("has no time that the login chose: %s", async (role) => {
    const forge = "insert into audit_secret (secret_id, subject, created_at) values ($1, $2, 'infinity')";
    const forged = asRole(role, forge, randomUUID(), opened.system.audit.subjectOf(account));
    await expect(forged).rejects.toMatchObject({ code: "42501" });
  });

  it.each([
    ["drs_service", "an account"],
    ["drs_service", "no account"],
    ["drs_admin", "an account"],
    ["drs_admin", "no account"],
  ])("is not used, and makes the server create no other: %s, of %s", async (role, of) => {
    const about = of === "an account" ? { account } : {};
    const subject = about.account === undefined ? null : opened.system.audit.subjectOf(account);
    await writeOf(about);
    await asRole(role, "insert into audit_secret (secret_id, subject) values ($1, $2)", randomUUID(), subject);
    const secrets = async () =>
      (await rowsOf("select from audit_secret where subject is not distinct from $1::bytea", subject)).length;
    const before = await secrets();
    for (let entries = 0; entries < 3; entries++) await writeOf(about);
    expect(await secrets()).toBe(before);
  });

  it("delays neither the erasure of its account nor the retention, however many rows there are", async () => {
    await write();
    const subject = opened.system.audit.subjectOf(account);
    const flood =
      "insert into audit_secret (secret_id, subject) select gen_random_uuid(), $1 from generate_series(1, 2500)";
    await asRole("drs_admin", flood, subject);
    await write();
    await endedAgo(HOUR_MS);
    const ended = "select destroyed_at from audit_secret where subject = $1 and ended_at is not null";
    expect(await rowsOf(ended, subject)).toEqual([{ destroyed_at: null }]);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }, { unreadable: true }]);
    expect(await rowsOf(ended, subject)).toEqual([{ destroyed_at: expect.any(Date) as Date }]);
  });

  it("is not used if it is one with the id of a lost row, and another account", async () => {
    await write();
    const [lost] = await secretsOf();
    await opened.owner.query("delete from audit_secret where secret_id = $1", [lost?.["secret_id"]]);
    const forge = "insert into audit_secret (secret_id, subject) values ($1, $2)";
    await asRole("drs_admin", forge, lost?.["secret_id"], opened.system.audit.subjectOf(`other-${account}`));
    await write();
    expect(await secretsOf()).toEqual([
      { secret_id: expect.not.stringContaining(String(lost?.["secret_id"])) as string, destroyed_at: null },
    ]);
  });

  it("hides no secret behind many ids of lost rows, with another account", async () => {
    const lost = opened.system.audit.secretIdsOf(opened.system.audit.subjectOf(account));
    const ids = Array.from({ length: 16 }, (_, number) => lost(number));
    const forge = "insert into audit_secret (secret_id, subject) select id, $2 from unnest($1::uuid[]) as id";
    await asRole("drs_admin", forge, ids, opened.system.audit.subjectOf(`other-${account}`));
    await write();
    await write();
    expect(await secretsOf()).toHaveLength(1);
    await endedAgo(HOUR_MS);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }, { unreadable: true }]);
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

  it("are sealed under another secret if the row of the destroyed one was lost by a restore of the database", async () => {
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

  it("remain readable while a review of an entry about the account is open", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const order = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;
    const { pool, audit } = opened.system;
    const reviewId = await inTransaction(pool, (transaction) => openReview(transaction, audit, id, order));
    expect(await listOpenReviews(pool, audit)).toMatchObject([
      { review_id: reviewId, entry_id: id, actor: AGENT.actor },
    ]);
    await destroy(0);
    expect(await listed()).toMatchObject([PERSONAL]);
    const close = (): Promise<boolean> =>
      inTransaction(pool, (transaction) => closeReview(transaction, audit, reviewId, { ...order, isAlone: false }));
    expect(await close()).toBe(true);
    await expect(close()).rejects.toMatchObject({ code: "not-found" });
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("remain readable if a review is opened at the same time as the destruction, before it", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const order = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;
    let destruction: Promise<void> | undefined;
    await inTransaction(opened.system.pool, async (transaction) => {
      await openReview(transaction, opened.system.audit, id, order);
      destruction = destroy(0);
      await Promise.race([destruction, lockAwaited()]);
    });
    await destruction;
    expect(await listed()).toMatchObject([PERSONAL]);
  });

  it("have no review that was opened at the same time as the destruction, after its start", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const order = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;
    const { pool, audit } = opened.system;
    const reviews = async (): Promise<number> =>
      (await rowsOf("select from audit_review where subject = $1", audit.subjectOf(account))).length;
    const destroySecret = audit.secrets.destroy.bind(audit.secrets);
    let [opening, during]: [Promise<unknown> | undefined, number | undefined] = [undefined, undefined];
    const spied = vi.spyOn(audit.secrets, "destroy").mockImplementation(async (name) => {
      opening = inTransaction(pool, (transaction) => openReview(transaction, audit, id, order));
      await Promise.race([opening, lockAwaited()]);
      during = await reviews();
      await destroySecret(name);
    });
    await destroy(0).finally(() => spied.mockRestore());
    await opening;
    expect([during, await reviews()]).toEqual([0, 1]);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("remain readable until each of several reviews, which were opened at the same time, is closed", async () => {
    const { pool, audit } = opened.system;
    const order = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;
    const id = await write();
    await endedAgo(HOUR_MS);
    const open = (): Promise<string> => inTransaction(pool, (transaction) => openReview(transaction, audit, id, order));
    for (const reviewId of await Promise.all([open(), open(), open()])) {
      await destroy(0);
      expect(await listed(), `${reviewId} is open`).toMatchObject([PERSONAL]);
      await inTransaction(pool, (transaction) =>
        closeReview(transaction, audit, reviewId, { ...order, isAlone: true }),
      );
    }
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("are not kept readable by a review of the person who wrote the entry, except if that person is alone", async () => {
    const { pool, audit } = opened.system;
    const agent = { ...AGENT, actor: `${AGENT.actor} (another terminal)` };
    const order = { agent, reason: "the read was justified" };
    const reviewId = await inTransaction(pool, async (transaction) =>
      openReview(transaction, audit, await write(), order),
    );
    const close = (isAlone: boolean): Promise<boolean> =>
      inTransaction(pool, (transaction) => closeReview(transaction, audit, reviewId, { ...order, isAlone }));
    expect(await close(false)).toBe(false);
    const token = { ...agent, actor: `auditor (admin token 1, obtained by ${AGENT.actor})` };
    const byToken = { ...order, agent: token, isAlone: false };
    expect(await inTransaction(pool, (transaction) => closeReview(transaction, audit, reviewId, byToken))).toBe(false);
    const outcomes = "select outcome from audit_entry where operation = 'audit.review' and detail ->> 'review_id' = $1";
    expect(await rowsOf(`${outcomes} order by at`, reviewId)).toEqual([
      { outcome: "opened" },
      { outcome: "denied" },
      { outcome: "denied" },
    ]);
    expect(await close(true)).toBe(true);
  });

  it("end with one review at a time, also if its id is sent in capitals", async () => {
    const { pool, audit } = opened.system;
    const order = { agent: { ...AGENT, actor: "cli:auditor" }, reason: "the read was justified", isAlone: false };
    const reviewId = await inTransaction(pool, async (transaction) =>
      openReview(transaction, audit, await write(), order),
    );
    const close = (id: string, closed: () => Promise<void> = async () => {}): Promise<void> =>
      inTransaction(pool, async (transaction) => {
        await closeReview(transaction, audit, id, order);
        await closed();
      });
    let other: Promise<unknown> | undefined;
    await close(reviewId, async () => {
      other = close(reviewId.toUpperCase()).catch((error: unknown) => error);
      await sleep(200);
    });
    expect(await other).toMatchObject({ code: "not-found" });
  });

  it("are destroyed without a read of the reviews of other accounts", async () => {
    const { pool, audit } = opened.system;
    const order = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;
    const reviewed = `other-${account}`;
    const id = await write(reviewed);
    await inTransaction(pool, (transaction) => openReview(transaction, audit, id, order));
    const none = recordingReads();
    expect(await isUnderReview(none.executor, audit, audit.subjectOf(account))).toBe(false);
    expect(none.read).toEqual([[]]);
    const one = recordingReads();
    expect(await isUnderReview(one.executor, audit, audit.subjectOf(reviewed))).toBe(true);
    expect(one.read[0]).toHaveLength(1);
    expect(await planOf(FIND_OF_SUBJECT, Buffer.alloc(16))).toContain("audit_review_subject");
  });

  it("of many accounts are destroyed, also if a review of the first one is open", async () => {
    const { pool, audit } = opened.system;
    const order = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;
    const id = await write();
    await endedAgo(2 * HOUR_MS);
    const reviewId = await inTransaction(pool, (transaction) => openReview(transaction, audit, id, order));
    const others = await rowsOf(
      `insert into audit_secret (secret_id, subject, ended_at)
        select gen_random_uuid(), decode(lpad(to_hex(number), 32, '0'), 'hex'), transaction_time() - interval '1 hour'
          from generate_series(1, 120) as number returning secret_id`,
    );
    await destroy(0);
    expect(await listed()).toMatchObject([PERSONAL]);
    const own = await secretsOf();
    const remaining = (): Promise<Record<string, unknown>[]> =>
      rowsOf(
        "select secret_id from audit_secret where secret_id = any ($1) and destroyed_at is null",
        [...own, ...others].map(({ secret_id }) => secret_id),
      );
    expect([own.length, others.length]).toEqual([1, 120]);
    expect(await remaining()).toEqual([{ secret_id: own[0]?.["secret_id"] }]);
    await inTransaction(pool, (transaction) => closeReview(transaction, audit, reviewId, { ...order, isAlone: true }));
    await destroy(0);
    expect(await remaining()).toEqual([]);
  });

  it("of other accounts and of the installation remain", async () => {
    const other = `other-${account}`;
    await write();
    await write(other);
    await endedAgo(HOUR_MS);
    await destroy(0);
    expect(await listed(other)).toMatchObject([PERSONAL]);
  });
});

describe("what a login of the database writes about reviews", () => {
  const order = { agent: { actor: "cli:auditor", via: "direct" }, reason: "no case behind it" } as const;
  const asAdmin = (text: string, ...values: readonly unknown[]): Promise<void> => asRole("drs_admin", text, ...values);
  const open = (entryId: string): Promise<string> =>
    inTransaction(opened.system.pool, (transaction) => openReview(transaction, opened.system.audit, entryId, order));
  const forgedReviews = (): Promise<number> => countForgedReviews(opened.system.pool, opened.system.audit);
  const finding = async () => (await examine(opened.system)).find(({ what }) => what === "reviews");

  it("ends no review: the reasons are not destroyed, and drs doctor fails", async () => {
    const [reviewId, other] = [await open(await write()), await open(await write(`other-${account}`))];
    await inTransaction(opened.system.pool, (transaction) =>
      closeReview(transaction, opened.system.audit, other, { ...order, isAlone: true }),
    );
    await endedAgo(HOUR_MS);
    const forged = await forgedReviews();
    for (let ends = 0; ends < 3; ends++) {
      await asAdmin(
        `insert into audit_review_end (end_id, review_id, mac)
          select gen_random_uuid(), $1, set_byte(mac, 0, $3) from audit_review_end where review_id = $2`,
        reviewId,
        other,
        ends,
      );
    }
    await destroy(0);
    expect(await listed()).toMatchObject([PERSONAL]);
    const openReviews = await listOpenReviews(opened.system.pool, opened.system.audit);
    expect(openReviews).toContainEqual(expect.objectContaining({ review_id: reviewId }));
    expect(await forgedReviews()).toBe(forged + 3);
    expect(await finding()).toMatchObject({ ok: false });
    await inTransaction(opened.system.pool, (transaction) =>
      closeReview(transaction, opened.system.audit, reviewId, { ...order, isAlone: true }),
    );
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("opens no review: the reasons are destroyed", async () => {
    const id = await write();
    await open(await write(`other-${account}`));
    await endedAgo(HOUR_MS);
    const forged = await forgedReviews();
    const reviewId = randomUUID();
    await asAdmin(
      `insert into audit_review (review_id, entry_id, subject, opened_at, mac)
        select $2, e.entry_id, e.subject, r.opened_at, r.mac from audit_entry e, audit_review r
        where e.entry_id = $1 limit 1`,
      id,
      reviewId,
    );
    expect(await forgedReviews()).toBe(forged + 1);
    const openReviews = await listOpenReviews(opened.system.pool, opened.system.audit);
    expect(openReviews).not.toContainEqual(expect.objectContaining({ entry_id: id }));
    expect(await findOpenReview(opened.system.pool, opened.system.audit, reviewId)).toBeUndefined();
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("is counted by the time at which it was written, which it can't choose", async () => {
    const forged = await forgedReviews();
    await asAdmin(
      `insert into audit_review (review_id, entry_id, opened_at, mac)
        values (gen_random_uuid(), gen_random_uuid(), transaction_time() - interval '40 days', sha256(''))`,
    );
    expect(await forgedReviews()).toBe(forged + 1);
  });

  it("has no MAC of another length, and not the id before which pages begin", async () => {
    const FIRST_ID = "00000000-0000-0000-0000-000000000000";
    const reviewId = await open(await write());
    for (const [text, ...values] of [
      ["insert into audit_review_end (end_id, review_id, mac) values (gen_random_uuid(), $1, '\\x00')", reviewId],
      ["insert into audit_review_end (end_id, review_id, mac) values ($2, $1, sha256(''))", reviewId, FIRST_ID],
      [
        "insert into audit_review (review_id, entry_id, opened_at, mac) values ($1, gen_random_uuid(), now(), sha256(''))",
        FIRST_ID,
      ],
    ] as const) {
      await expect(asAdmin(text, ...values)).rejects.toMatchObject({ code: "23514" });
    }
  });

  it("does not keep the reasons of its account readable, however many rows there are", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const flood = `insert into audit_review (review_id, entry_id, subject, opened_at, mac)
      select gen_random_uuid(), entry_id, subject, transaction_time(), sha256(number::text::bytea)
        from audit_entry, generate_series(1, 2500) as number where entry_id = $1`;
    await asAdmin(flood, id);
    const reviewId = await open(id);
    await destroy(0);
    expect(await listed(), "a review is open").toMatchObject([PERSONAL]);
    await inTransaction(opened.system.pool, (transaction) =>
      closeReview(transaction, opened.system.audit, reviewId, { ...order, isAlone: true }),
    );
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("opens no review again whose entry a restore lost: the reasons are destroyed", async () => {
    await write();
    const lost = await write();
    const reviewId = await open(lost);
    await opened.owner.query("delete from audit_entry where entry_id = $1", [lost]);
    await endedAgo(HOUR_MS);
    const { pool, audit } = opened.system;
    const close = inTransaction(pool, (transaction) =>
      closeReview(transaction, audit, reviewId, { ...order, isAlone: true }),
    );
    await expect(close).rejects.toMatchObject({ code: "not-found" });
    expect(await listOpenReviews(pool, audit)).not.toContainEqual(expect.objectContaining({ review_id: reviewId }));
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("ends no review again whose end was lost by a restore, and people can end it", async () => {
    const reviewId = await open(await write());
    await endedAgo(HOUR_MS);
    const { pool, audit } = opened.system;
    const close = (): Promise<boolean> =>
      inTransaction(pool, (transaction) => closeReview(transaction, audit, reviewId, { ...order, isAlone: true }));
    const remove = "delete from audit_review_end where review_id = $1 returning end_id, mac";
    for (let restores = 0; restores < 2; restores++) {
      await close();
      const lost = await rowsOf(remove, reviewId);
      const insert = "insert into audit_review_end (end_id, review_id, mac) values ($1, $2, $3)";
      for (const { end_id, mac } of lost) await asAdmin(insert, end_id, reviewId, mac);
      expect(await findOpenReview(pool, audit, reviewId)).toMatchObject({ review_id: reviewId });
      await destroy(0);
      expect(await listed()).toMatchObject([PERSONAL]);
    }
    expect(await finding()).toMatchObject({ ok: false });
    expect(await close()).toBe(true);
    expect(await findOpenReview(pool, audit, reviewId)).toBeUndefined();
  });

  it("hides no review behind numbers that are missing", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const { pool, audit } = opened.system;
    const ids = await inTransaction(pool, async (transaction) => {
      const opening: string[] = [];
      for (let number = 0; number <= 100; number++) opening.push(await openReview(transaction, audit, id, order));
      return opening;
    });
    const remove = (...removed: readonly string[]) =>
      opened.owner.query("delete from audit_review where review_id = any ($1)", [removed]);
    await remove(...ids.slice(0, 99));
    const next = await open(id);
    await remove(ids[100] ?? "");
    const close = (reviewId: string): Promise<boolean> =>
      inTransaction(pool, (transaction) => closeReview(transaction, audit, reviewId, { ...order, isAlone: true }));
    await close(ids[99] ?? "");
    await destroy(0);
    expect(await listed(), "the review with number 101 is open").toMatchObject([PERSONAL]);
    await close(next);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
    expect(ids).not.toContain(next);
  });

  it("is no entry with a subject of another length, of which no review can be opened", async () => {
    const columns = "at, actor, via, operation, outcome, occurrences, record, mac";
    const forge = `insert into audit_entry (entry_id, subject, ${columns})
      select gen_random_uuid(), '\\x00', ${columns} from audit_entry where entry_id = $1`;
    await expect(asAdmin(forge, await write())).rejects.toMatchObject({ code: "23514" });
  });

  it("reviews no direct use", async () => {
    const useOf = () => findUnreviewedUse(opened.system.pool, opened.system.audit, [AGENT.operation]);
    const before = (await useOf()).entries;
    const entryId = await write();
    const reviewId = await open(entryId);
    const end = "insert into audit_review_end (end_id, review_id, mac) values (gen_random_uuid(), $1, $2)";
    await asAdmin(end, reviewId, Buffer.alloc(32));
    expect((await useOf()).entries).toBe(before + 1);
    await inTransaction(opened.system.pool, (transaction) =>
      closeReview(transaction, opened.system.audit, reviewId, { ...order, isAlone: true }),
    );
    expect((await useOf()).entries).toBe(before);
  });

  it("is read in pages, and does not hinder the end of a review", async () => {
    const reviewId = await open(await write());
    await asAdmin(
      `insert into audit_review_end (end_id, review_id, mac)
        select gen_random_uuid(), $1, sha256(number::text::bytea) from generate_series(1, 2500) as number`,
      reviewId,
    );
    const { pool, audit } = opened.system;
    expect(await findOpenReview(pool, audit, reviewId)).toMatchObject({ review_id: reviewId });
    await inTransaction(pool, (transaction) => closeReview(transaction, audit, reviewId, { ...order, isAlone: true }));
    expect(await findOpenReview(pool, audit, reviewId)).toBeUndefined();
  });

  it("is not read to open a review, and of other reviews only the ids are", async () => {
    const { pool, audit } = opened.system;
    const entry = await findReviewedEntry(pool, await write());
    if (!entry) throw new Error("no entry");
    await insertReview(pool, audit, entry);
    const { executor, read } = recordingReads();
    await insertReview(executor, audit, entry);
    expect(new Set(read.flat().flatMap((row) => Object.keys(row)))).toEqual(new Set(["review_id"]));
  });

  it("hides no open review, and no row of it is read for the list", async () => {
    const reviewId = await open(await write());
    await asAdmin(
      `insert into audit_review (review_id, entry_id, opened_at, mac)
        select gen_random_uuid(), gen_random_uuid(), transaction_time(), sha256('') from generate_series(1, 2500)`,
    );
    const { executor, read } = recordingReads();
    const listing = await listOpenReviews(executor, opened.system.audit);
    expect(listing).toContainEqual(expect.objectContaining({ review_id: reviewId }));
    expect(Math.max(...read.map((rows) => rows.length))).toBeLessThanOrEqual(250);
  });

  it("is counted up to about a thousand", async () => {
    await asAdmin(
      `insert into audit_review (review_id, entry_id, opened_at, mac)
        select gen_random_uuid(), gen_random_uuid(), transaction_time(), sha256('') from generate_series(1, 5000)`,
    );
    const counted = await forgedReviews();
    expect(counted).toBeGreaterThanOrEqual(1_000);
    expect(counted).toBeLessThanOrEqual(2_000);
    expect(await finding()).toMatchObject({ ok: false, detail: expect.stringContaining("at least") as string });
  });
});
