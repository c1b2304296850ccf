/** Tests of reviews, and ends of reviews, that a login of the database inserts: the server uses none of them. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { examine } from "../operations/doctor.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { AGENT, HOUR_MS, ORDER, PERSONAL, useAuditedAccount } from "./audited-account.fixture.ts";
import { countForgedReviews, findOpenReview, findReviewedEntry, insertReview } from "./review-table.ts";
import { listOpenReviews, openReview } from "./reviews.ts";
import { findUnreviewedUse } from "./search-audit.ts";

const opened = useTestSystem();
const scene = useAuditedAccount(opened);
const { write, listed, endedAgo, destroy, open, close, rowsOf, asRole, recordingReads } = scene;

describe("what a login of the database writes about reviews", () => {
  const asAdmin = (text: string, ...values: readonly unknown[]): Promise<void> => asRole("drs_admin", text, ...values);
  const forgedReviews = (): Promise<number> => countForgedReviews(opened.system.pool, opened.system.audit);
  const finding = async () => (await examine(opened.system)).find(({ what }) => what === "reviews");

  it("ends no review: the reasons are not destroyed, and drs doctor fails", async () => {
    const [reviewId, other] = [await open(await write()), await open(await write(`other-${scene.account}`))];
    await close(other);
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
    await close(reviewId);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("opens no review: the reasons are destroyed", async () => {
    const id = await write();
    await open(await write(`other-${scene.account}`));
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

  it("is counted by the time at which it was written, which the login can't choose", async () => {
    const forged = await forgedReviews();
    await asAdmin(
      `insert into audit_review (review_id, entry_id, opened_at, mac)
        values (gen_random_uuid(), gen_random_uuid(), transaction_time() - interval '40 days', sha256(''))`,
    );
    expect(await forgedReviews()).toBe(forged + 1);
  });

  it("has no MAC of another length, and no id that pages use as their start", async () => {
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
    await close(reviewId);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("does not reopen a review whose entry a restore lost: the reasons are destroyed", async () => {
    await write();
    const lost = await write();
    const reviewId = await open(lost);
    await opened.owner.query("delete from audit_entry where entry_id = $1", [lost]);
    await endedAgo(HOUR_MS);
    const { pool, audit } = opened.system;
    const closed = close(reviewId);
    await expect(closed).rejects.toMatchObject({ code: "not-found" });
    expect(await listOpenReviews(pool, audit)).not.toContainEqual(expect.objectContaining({ review_id: reviewId }));
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
  });

  it("does not end a review whose end was lost by a restore, and people can end it again", async () => {
    const reviewId = await open(await write());
    await endedAgo(HOUR_MS);
    const { pool, audit } = opened.system;
    const remove = "delete from audit_review_end where review_id = $1 returning end_id, mac";
    for (let restores = 0; restores < 2; restores++) {
      await close(reviewId);
      const lost = await rowsOf(remove, reviewId);
      const insert = "insert into audit_review_end (end_id, review_id, mac) values ($1, $2, $3)";
      for (const { end_id, mac } of lost) await asAdmin(insert, end_id, reviewId, mac);
      expect(await findOpenReview(pool, audit, reviewId)).toMatchObject({ review_id: reviewId });
      await destroy(0);
      expect(await listed()).toMatchObject([PERSONAL]);
    }
    expect(await finding()).toMatchObject({ ok: false });
    expect(await close(reviewId)).toBe(true);
    expect(await findOpenReview(pool, audit, reviewId)).toBeUndefined();
  });

  it("hides no review behind missing numbers", async () => {
    const id = await write();
    await endedAgo(HOUR_MS);
    const { pool, audit } = opened.system;
    const ids = await inTransaction(pool, async (transaction) => {
      const reviewIds: string[] = [];
      for (let number = 0; number <= 100; number++) reviewIds.push(await openReview(transaction, audit, id, ORDER));
      return reviewIds;
    });
    const remove = (...removed: readonly string[]) =>
      opened.owner.query("delete from audit_review where review_id = any ($1)", [removed]);
    await remove(...ids.slice(0, 99));
    const next = await open(id);
    await remove(ids[100] ?? "");
    await close(ids[99] ?? "");
    await destroy(0);
    expect(await listed(), "the review with number 101 is open").toMatchObject([PERSONAL]);
    await close(next);
    await destroy(0);
    expect(await listed()).toMatchObject([{ unreadable: true }]);
    expect(ids).not.toContain(next);
  });

  it("can't be an entry with a subject of another length, for which no review could be opened", async () => {
    const columns = "at, actor, via, operation, outcome, occurrences, record, mac";
    const forge = `insert into audit_entry (entry_id, subject, ${columns})
      select gen_random_uuid(), '\\x00', ${columns} from audit_entry where entry_id = $1`;
    await expect(asAdmin(forge, await write())).rejects.toMatchObject({ code: "23514" });
  });

  it("does not count as a review of direct use", async () => {
    const useOf = () => findUnreviewedUse(opened.system.pool, opened.system.audit, [AGENT.operation]);
    const before = (await useOf()).entries;
    const entryId = await write();
    const reviewId = await open(entryId);
    const end = "insert into audit_review_end (end_id, review_id, mac) values (gen_random_uuid(), $1, $2)";
    await asAdmin(end, reviewId, Buffer.alloc(32));
    expect((await useOf()).entries).toBe(before + 1);
    await close(reviewId);
    expect((await useOf()).entries).toBe(before);
  });

  it("is read in pages, and does not prevent the end of a review", async () => {
    const reviewId = await open(await write());
    await asAdmin(
      `insert into audit_review_end (end_id, review_id, mac)
        select gen_random_uuid(), $1, sha256(number::text::bytea) from generate_series(1, 2500) as number`,
      reviewId,
    );
    const { pool, audit } = opened.system;
    expect(await findOpenReview(pool, audit, reviewId)).toMatchObject({ review_id: reviewId });
    await close(reviewId);
    expect(await findOpenReview(pool, audit, reviewId)).toBeUndefined();
  });

  it("is not read when a review is opened, and of other reviews only the ids are read", async () => {
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
