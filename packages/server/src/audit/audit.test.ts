import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../e2e/support/test-system.ts";
import { uuidv7 } from "../base/identifiers/uuidv7.ts";
import type { IngestAudit } from "../base/ports.ts";
import { AuditSigner } from "./audit-signer.ts";
import { type AuditRow, BufferedAuditLog, type CountedRequests, listAudit, writeAudit } from "./audit.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { openEventStore } from "../store/events/event-store.fixture.ts";
import { inTransaction } from "../store/postgres/database.ts";
import { newEvent } from "../store/events/new-event.fixture.ts";

const opened = useTestSystem();
let now: number;
/** The start of the test, which is later than the start of each earlier test. */
let began: number;
let accountCount = 0;
/** An account that no other test uses, and its name in the audit. */
let account: string;
let subject: string;
let signer: AuditSigner;
const clock = { now: () => now };
const AGENT = { actor: "cli:anna", via: "direct" } as const;
const logs: BufferedAuditLog[] = [];

beforeEach(() => {
  now = began = Date.parse("2026-03-01T12:00:00.000Z") + accountCount * 1_000_000;
  account = `account-${accountCount++}`;
  signer = new AuditSigner(Buffer.alloc(32), opened.system.pseudonymizer, opened.system.secrets, clock);
  subject = signer.subjectOf(account).toString("hex");
});

afterEach(async () => {
  await Promise.all(logs.splice(0).map((log) => log.close()));
});

/** A log that writes to the database, or to an executor that a test may break, and the errors that the log reported. */
function openLog(
  executor: Executor = opened.system.pool,
  counted?: CountedRequests,
): { log: BufferedAuditLog; errors: unknown[] } {
  const errors: unknown[] = [];
  const log = new BufferedAuditLog(executor, signer, (error) => errors.push(error), counted);
  logs.push(log);
  return { log, errors };
}

/** An executor that fails while `away` is true. */
function breakable(): { executor: Executor; state: { away: boolean; gate?: Promise<void> } } {
  const state: { away: boolean; gate?: Promise<void> } = { away: true };
  const executor: Executor = {
    async query(text, values) {
      await state.gate;
      if (state.away) throw new Error("away");
      return (opened.system.pool as Executor).query(text, values);
    },
  };
  return { executor, state };
}

const entry = (outcome: IngestAudit["outcome"], rest: Partial<IngestAudit> = {}): IngestAudit => ({
  operation: "event.create",
  outcome,
  ...rest,
});

const listed = (limit = 1_000): Promise<readonly AuditRow[]> =>
  listAudit(opened.system.pool, () => opened.system.secrets, { account: signer.named(account), limit });

/** Lists all entries without an account since this test began. */
async function anonymous(): Promise<readonly AuditRow[]> {
  const rows = await listAudit(opened.system.pool, () => opened.system.secrets, { limit: 100_000 });
  const since = new Date(now - 900_000).toISOString();
  return rows.filter((row) => row.account === null && row.at >= since);
}

const total = (rows: readonly AuditRow[]): number => rows.reduce((sum, row) => sum + row.occurrences, 0);

describe("the entry of an action", () => {
  it("is written with all that is known", async () => {
    const [eventId, caseId, approvalId] = [uuidv7(now), uuidv7(now), uuidv7(now)];
    const id = await writeAudit(opened.system.pool, signer, {
      actor: "cli:anna",
      via: "api",
      roles: ["investigator", "privacy"],
      operation: "event.read-raw",
      outcome: "done",
      account,
      eventIds: [eventId],
      category: "dispute",
      ticket: "CASE-17",
      caseId,
      approvalId,
      reason: "case 17, \"quoted\" 'and' \u{1F600}",
      detail: { bytes: 12 },
    });
    expect(await listed()).toEqual([
      {
        entry_id: id,
        at: new Date(now).toISOString(),
        actor: "cli:anna",
        via: "api",
        roles: ["investigator", "privacy"],
        operation: "event.read-raw",
        outcome: "done",
        account,
        event_id: eventId,
        occurrences: 1,
        reason: "case 17, \"quoted\" 'and' \u{1F600}",
        detail: { bytes: 12 },
        unreadable: false,
        verified: null,
        category: "dispute",
        ticket: "CASE-17",
        case_id: caseId,
        approval_id: approvalId,
      },
    ]);
    const { rows } = await opened.system.pool.query(
      "select pg_xact_status(xid) as status from audit_entry where entry_id = $1",
      [id],
    );
    expect(rows, "the transaction that wrote it").toEqual([{ status: "committed" }]);
  });

  it("names the transaction that commits it, not a savepoint of it", async () => {
    await inTransaction(opened.system.pool, async (transaction) => {
      await transaction.query("savepoint before_entry");
      const id = await writeAudit(transaction, signer, { ...AGENT, operation: "o", outcome: "done" });
      await transaction.query("release savepoint before_entry");
      const { rows } = await transaction.query(
        "select xid = pg_current_xact_id() as is_top, pg_xact_status(xid) as status from audit_entry where entry_id = $1",
        [id],
      );
      expect(rows).toEqual([{ is_top: true, status: "in progress" }]);
    });
  });

  it("may be about several events, and is listed once for each", async () => {
    const eventIds = [uuidv7(now), uuidv7(now)];
    await writeAudit(opened.system.pool, signer, { ...AGENT, operation: "o", outcome: "done", account, eventIds });
    for (const eventId of eventIds) {
      expect(await listAudit(opened.system.pool, () => opened.system.secrets, { eventId, limit: 10 })).toMatchObject([
        { account: subject, event_id: eventId },
      ]);
    }
  });

  it("may leave out most members, and the caller gets an error if it can't be written", async () => {
    await writeAudit(opened.system.pool, signer, {
      ...AGENT,
      operation: "drift.list",
      outcome: "done",
      account,
    });
    expect(await listed()).toMatchObject([{ event_id: null, reason: null, detail: null, roles: null, case_id: null }]);
    const { executor } = breakable();
    const written = writeAudit(executor, signer, { ...AGENT, operation: "o", outcome: "done" });
    await expect(written, "the data that it is about must not be handed out then").rejects.toThrow("away");
  });
});

describe("the entry of rejected and replayed requests", () => {
  it("counts requests by account and outcome, with one entry for each pair", async () => {
    const { log } = openLog();
    for (let index = 0; index < 250; index++) log.record(entry("request-invalid", { account }));
    for (let index = 0; index < 3; index++) log.record(entry("too-many-requests", { account }));
    await log.flush(false);
    const rows = await listed();
    expect(
      rows
        .map(({ outcome, occurrences }) => ({ outcome, occurrences }))
        .toSorted((a, b) => a.occurrences - b.occurrences),
    ).toEqual([
      { outcome: "too-many-requests", occurrences: 3 },
      { outcome: "request-invalid", occurrences: 250 },
    ]);
    expect(rows).toMatchObject([{ actor: "endpoint", via: "server", operation: "event.create" }, {}]);
    await log.flush(true);
    expect(await listed(), "and written once").toEqual(rows);
  });

  it("names the event of the requests, or each of several events", async () => {
    const [single, first, second] = [uuidv7(now), uuidv7(now), uuidv7(now)];
    const { log } = openLog();
    log.record(entry("idempotency-conflict", { account, eventId: single }));
    for (const eventId of [first, second, first]) log.record(entry("replayed", { account, eventId }));
    await log.flush(false);
    expect(
      await listAudit(opened.system.pool, () => opened.system.secrets, { eventId: single, limit: 10 }),
    ).toMatchObject([{ outcome: "idempotency-conflict", account: subject, event_id: single }]);
    for (const eventId of [first, second]) {
      expect(await listAudit(opened.system.pool, () => opened.system.secrets, { eventId, limit: 10 })).toMatchObject([
        { outcome: "replayed", account: subject, event_id: eventId },
      ]);
    }
    expect(
      await listAudit(opened.system.pool, () => opened.system.secrets, {
        eventId: first,
        account: signer.named("another"),
        limit: 10,
      }),
    ).toEqual([]);
  });

  it("names at most 100 events, and counts all requests", async () => {
    const { log } = openLog();
    for (let index = 0; index < 150; index++) log.record(entry("replayed", { account, eventId: uuidv7(now) }));
    await log.flush(false);
    const { rows } = await opened.system.pool.query(
      "select occurrences, cardinality(event_ids) as named from audit_entry where subject = $1",
      [signer.subjectOf(account)],
    );
    expect(rows).toEqual([{ occurrences: 150, named: 100 }]);
  });

  it("is written within some seconds by a timer, and on closing", async () => {
    const { log } = openLog();
    log.record(entry("request-invalid", { account }));
    await expect.poll(() => listed(), { timeout: 5_000 }).toHaveLength(1);
    log.record(entry("action-refused", { account }));
    await log.close();
    expect(await listed()).toHaveLength(2);
  });
});

describe("the entry of requests without an account", () => {
  it("is written once a minute, with counts by source address", async () => {
    const { log } = openLog();
    for (let index = 0; index < 40; index++) log.record(entry("credentials-invalid", { peer: "192.0.2.1" }));
    log.record(entry("credentials-invalid", { peer: "2001:db8::1" }));
    log.record(entry("credentials-invalid", { peer: "2001:db8::2" }));
    now += 59_999;
    await log.flush(false);
    expect(await anonymous()).toEqual([]);
    now += 1;
    await log.flush(false);
    expect(await anonymous()).toMatchObject([
      {
        outcome: "credentials-invalid",
        occurrences: 42,
        detail: {
          since: new Date(began).toISOString(),
          sources: { "192.0.2.1": 40, "2001:db8:0:0::/64": 2 },
        },
      },
    ]);
  });

  it("has only the requests of one source address, if these are counted by address, up to a number of addresses", async () => {
    const counted: CountedRequests = {
      origin: { actor: "refused", via: "api", operation: "session.authenticate" },
      lane: { sign: (all) => all.map((one) => signer.sign(one)), acknowledge: () => {}, renew: () => {} },
      isBySource: true,
      maxGroups: 10,
    };
    const { log } = openLog(undefined, counted);
    for (let index = 0; index < 20_000; index++) {
      log.record({ outcome: "denied", cause: "token", peer: `10.0.${index >> 8}.${index & 255}` });
      log.record({ outcome: "denied", cause: "token", peer: "10.0.0.1" });
    }
    await log.flush(true);
    const rows = await anonymous();
    expect(rows).toHaveLength(11);
    expect(total(rows)).toBe(40_000);
    const sources = rows.map(({ detail }) => (detail as { sources: Record<string, number> }).sources);
    expect(sources).toContainEqual({ "10.0.0.1": 20_001 });
    expect(Math.max(...sources.map((one) => Object.keys(one).length))).toBe(100);
  });

  it("can't fill the disk, because a flood from many addresses is one entry with a hundred addresses", async () => {
    const { log } = openLog();
    for (let index = 0; index < 20_000; index++) {
      log.record(entry("credentials-invalid", { peer: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }));
    }
    now += 60_000;
    await log.flush(false);
    const rows = await anonymous();
    expect(rows.map(({ occurrences }) => occurrences)).toEqual([20_000]);
    expect(Object.keys((rows[0]?.detail as { sources: object } | undefined)?.sources ?? {})).toHaveLength(100);
  });

  it("also counts sources that are no IP addresses", async () => {
    const { log } = openLog();
    for (const peer of ["__proto__", "unknown", "a:b::c::d", "é\u0001"])
      log.record(entry("credentials-missing", { peer }));
    now += 60_000;
    await log.flush(false);
    expect(total(await anonymous())).toBe(4);
  });
});

describe("requests of more accounts than can be counted apart", () => {
  it("are all counted, but under no account, so that the number of groups is bounded", async () => {
    const { log } = openLog();
    for (let index = 0; index < 10_050; index++)
      log.record(entry("request-invalid", { account: `${account}-${index}` }));
    for (let index = 0; index < 5; index++) log.record(entry("request-invalid", { account: `${account}-0` }));
    now += 60_000;
    await log.flush(true);
    const { rows } = await opened.system.pool.query<{ groups: number; total: number }>(
      "select count(*) as groups, sum(occurrences)::int as total from audit_entry where subject is not null and at >= $1",
      [new Date(began).toISOString()],
    );
    expect(rows).toEqual([{ groups: 10_000, total: 10_005 }]);
    expect(total(await anonymous())).toBe(50);
  });
});

describe("the audit while the database is away", () => {
  it("loses nothing: entries that could not be written are written later, once", async () => {
    const { executor, state } = breakable();
    const { log, errors } = openLog(executor);
    const eventId = uuidv7(now);
    for (let round = 0; round < 3; round++) {
      log.record(entry("request-invalid", { account, eventId }));
      log.record(entry("credentials-invalid", { peer: "192.0.2.9" }));
      await log.flush(true);
    }
    expect(errors).toHaveLength(3);
    state.away = false;
    await log.flush(true);
    await log.flush(true);
    expect(await listed()).toMatchObject([{ occurrences: 3, event_id: eventId }]);
    expect(await anonymous()).toMatchObject([{ occurrences: 3, detail: { sources: { "192.0.2.9": 3 } } }]);
  });

  it("merges entries of a failed write with later ones: counts, events, sources and the start time", async () => {
    const { executor, state } = breakable();
    const { log } = openLog(executor);
    let open = (): void => {};
    state.gate = new Promise((resolve) => (open = resolve));
    const [first, second] = [uuidv7(now), uuidv7(now)];
    log.record(entry("replayed", { account, eventId: first }));
    log.record(entry("credentials-invalid", { peer: "192.0.2.1" }));
    const failing = log.flush(true);
    await new Promise(setImmediate);
    now += 1_000;
    log.record(entry("replayed", { account, eventId: second }));
    log.record(entry("credentials-invalid", { peer: "192.0.2.1" }));
    log.record(entry("credentials-invalid", { peer: "192.0.2.2" }));
    open();
    await failing;
    state.away = false;
    now = began + 60_000;
    await log.flush(false);
    expect(await anonymous()).toMatchObject([
      {
        occurrences: 3,
        detail: { since: new Date(began).toISOString(), sources: { "192.0.2.1": 2, "192.0.2.2": 1 } },
      },
    ]);
    expect(new Set((await listed()).map((row) => row.event_id))).toEqual(new Set([first, second]));
  });

  it("has a bounded number of groups, however often a write fails, and loses nothing", async () => {
    const { executor, state } = breakable();
    const { log } = openLog(executor);
    // Each write fails after the next requests have come.
    for (let round = 0; round < 3; round++) {
      let open = (): void => {};
      state.gate = new Promise((resolve) => (open = resolve));
      const failing = log.flush(true);
      await new Promise(setImmediate);
      for (let index = 0; index < 9_000; index++) {
        log.record(entry("request-invalid", { account: `${account}-${round}-${index}` }));
      }
      open();
      await failing;
    }
    state.away = false;
    await log.flush(true);
    const { rows } = await opened.system.pool.query<{ groups: number; total: number }>(
      "select count(*) as groups, sum(occurrences)::int as total from audit_entry where subject is not null and at >= $1",
      [new Date(began).toISOString()],
    );
    expect(rows[0]?.groups).toBeLessThanOrEqual(10_000);
    expect(rows[0]?.groups).toBeGreaterThanOrEqual(9_000);
    expect((rows[0]?.total ?? 0) + total(await anonymous())).toBe(27_000);
  });
});

describe("the list of the audit", () => {
  it("shows an entry of a commit batch once for each requested event", async () => {
    const store = await openEventStore(opened.system);
    const events = Array.from({ length: 12 }, (_, index) =>
      newEvent({ account: index % 3 === 0 ? account : "others" }),
    );
    await Promise.all(events.map((event) => store.append(event)));
    await store.close();
    const mine = events.filter((event) => event.account === account);
    const rows = await listed();
    expect(rows.map((row) => row.event_id).toSorted()).toEqual(mine.map(({ eventId }) => eventId).toSorted());
    expect(rows[0]).toMatchObject({
      actor: "endpoint",
      operation: "event.create",
      outcome: "accepted",
      account,
      occurrences: 1,
    });

    const [one] = mine;
    const eventId = one?.eventId ?? "";
    expect(await listAudit(opened.system.pool, () => opened.system.secrets, { eventId, limit: 10 })).toMatchObject([
      { outcome: "accepted", account: subject, event_id: eventId },
    ]);
    expect(
      await listAudit(opened.system.pool, () => opened.system.secrets, {
        eventId,
        account: signer.named(account),
        limit: 10,
      }),
    ).toHaveLength(1);
    expect(
      await listAudit(opened.system.pool, () => opened.system.secrets, {
        eventId,
        account: signer.named("others"),
        limit: 10,
      }),
    ).toEqual([]);
    expect(
      await listAudit(opened.system.pool, () => opened.system.secrets, { eventId: uuidv7(now), limit: 10 }),
    ).toEqual([]);
  });

  it("is newest first, and ends at the limit", async () => {
    for (let index = 0; index < 5; index++) {
      now += 1_000;
      await writeAudit(opened.system.pool, signer, {
        actor: `actor-${index}`,
        via: "direct",
        operation: "o",
        outcome: "done",
        account,
      });
    }
    expect((await listed(3)).map((row) => row.actor)).toEqual(["actor-4", "actor-3", "actor-2"]);
  });
});
