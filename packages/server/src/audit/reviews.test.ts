/** Tests of reviews of audit entries: reasons and details remain readable while a review is open. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { AGENT, HOUR_MS, ORDER, PERSONAL, useAuditedAccount } from "./audited-account.fixture.ts";
import { FIND_OF_SUBJECT, isUnderReview } from "./review-table.ts";
import { closeReview, listOpenReviews, openReview } from "./reviews.ts";

const opened = useTestSystem();
const scene = useAuditedAccount(opened);
const { write, listed, secretsOf, endedAgo, destroy, open, close, rowsOf, lockAwaited, planOf, recordingReads } = scene;

describe("after the erasure of the account, reason and detail", () => {
  it("remain readable while a review of an entry about the account is open", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const { pool, audit } = opened.system;
    const reviewId = await open(id);
    expect(await listOpenReviews(pool, audit)).toMatchObject([
      { review_id: reviewId, entry_id: id, actor: AGENT.actor },
    ]);
    await destroy(0);
    expect(await listed()).toMatchObject([PERSONAL]);
    expect(await close(reviewId, { isAlone: false })).toBe(true);
    await expect(close(reviewId, { isAlone: false })).rejects.toMatchObject({ code: "not-found" });
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("remain readable if a review is opened just before a destruction that runs at the same time", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    let destruction: Promise<void> | undefined;
    await inTransaction(opened.system.pool, async (transaction) => {
      await openReview(transaction, opened.system.audit, id, ORDER);
      destruction = destroy(0);
      await Promise.race([destruction, lockAwaited()]);
    });
    await destruction;
    expect(await listed()).toMatchObject([PERSONAL]);
  });

  it("can't get a review after the start of a destruction that runs at the same time", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const { audit } = opened.system;
    const reviews = async (): Promise<number> =>
      (await rowsOf("select from audit_review where subject = $1", audit.subjectOf(scene.account))).length;
    const destroySecret = audit.secrets.destroy.bind(audit.secrets);
    let [opening, during]: [Promise<unknown> | undefined, number | undefined] = [undefined, undefined];
    const spied = vi.spyOn(audit.secrets, "destroy").mockImplementation(async (name) => {
      opening = open(id);
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
    const id = await write();
    await endedAgo(HOUR_MS);
    for (const reviewId of await Promise.all([open(id), open(id), open(id)])) {
      await destroy(0);
      expect(await listed(), `${reviewId} is open`).toMatchObject([PERSONAL]);
      await close(reviewId);
    }
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("remain readable until a person other than the author of the entry closes the review, unless the author is alone", async () => {
    const agent = { ...AGENT, actor: `${AGENT.actor} (another terminal)` };
    const reviewId = await open(await write(), { agent });
    expect(await close(reviewId, { agent, isAlone: false })).toBe(false);
    const token = { ...agent, actor: `auditor (admin token 1, obtained by ${AGENT.actor})` };
    expect(await close(reviewId, { agent: token, isAlone: false })).toBe(false);
    const outcomes = "select outcome from audit_entry where operation = 'audit.review' and detail ->> 'review_id' = $1";
    expect(await rowsOf(`${outcomes} order by at`, reviewId)).toEqual([
      { outcome: "opened" },
      { outcome: "denied" },
      { outcome: "denied" },
    ]);
    expect(await close(reviewId, { agent, isAlone: true })).toBe(true);
  });

  it("have a review that only one of two concurrent calls can close, also if its id is sent in capitals", async () => {
    const { pool, audit } = opened.system;
    const reviewId = await open(await write());
    let other: Promise<unknown> | undefined;
    await inTransaction(pool, async (transaction) => {
      await closeReview(transaction, audit, reviewId, { ...ORDER, isAlone: false });
      other = close(reviewId.toUpperCase(), { isAlone: false }).catch((error: unknown) => error);
      await sleep(200);
    });
    expect(await other).toMatchObject({ code: "not-found" });
  });

  it("are destroyed without a read of the reviews of other accounts", async () => {
    const { audit } = opened.system;
    const reviewed = `other-${scene.account}`;
    const id = await write(reviewed);
    await open(id);
    const none = recordingReads();
    expect(await isUnderReview(none.executor, audit, audit.subjectOf(scene.account))).toBe(false);
    expect(none.read).toEqual([[]]);
    const one = recordingReads();
    expect(await isUnderReview(one.executor, audit, audit.subjectOf(reviewed))).toBe(true);
    expect(one.read[0]).toHaveLength(1);
    expect(await planOf(FIND_OF_SUBJECT, Buffer.alloc(16))).toContain("audit_review_subject");
  });

  it("of many accounts are destroyed, also if a review of the first one is open", async () => {
    const id = await write();
    await endedAgo(2 * HOUR_MS);
    const reviewId = await open(id);
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
    await close(reviewId);
    await destroy(0);
    expect(await remaining()).toEqual([]);
  });
});
