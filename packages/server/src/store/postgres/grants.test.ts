import { type KeyObject, randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runWithBreakGlass } from "../../../../../e2e/support/command.ts";
import { until } from "../../../../../e2e/support/embedded.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { insertEntries } from "../../audit/entries.ts";
import { signOutsideLane } from "../audit-record/lane.ts";
import { openEventStore } from "../events/event-store.fixture.ts";
import { newEvent } from "../events/new-event.fixture.ts";
import { uuidv7 } from "../../base/identifiers/uuidv7.ts";
import { servingOptions } from "./database.ts";
import type { Connection } from "./executor.ts";
import { FUNCTION_GRANTS, TABLE_GRANTS } from "./grants.ts";
import { migrate } from "./migrate.ts";
import type { Role } from "./roles.ts";

const scene = useTestSystem();
const suffix = randomBytes(4).toString("hex");
const event = newEvent();
const closing: (() => Promise<unknown>)[] = [];

/** A connection as a login that has this role and no other. */
async function connectWith(role: Role, name = "only"): Promise<pg.Client & Connection> {
  const login = `${name}_${role}_${suffix}`;
  await scene.owner.query(`create role ${login} login`);
  closing.push(() => scene.owner.query(`drop role ${login}`));
  const url = scene.environment["DRS_DATABASE_URL"] ?? "";
  await migrate({ connectionString: url }, [{ login, role }]);
  const connectionString = url.replace("postgres@", `${login}@`);
  const client = new pg.Client(servingOptions({ connectionString }, { role }));
  await client.connect();
  closing.push(() => client.end());
  return client as pg.Client & Connection;
}

let ingest: pg.Client & Connection;
let admin: pg.Client & Connection;

beforeAll(async () => {
  const store = await openEventStore(scene.system);
  expect(await store.append(event)).toBe("stored");
  await store.close();
  ingest = await connectWith("drs_ingest");
  admin = await connectWith("drs_admin");
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const DENIED = { code: "42501" };
const NO_ID = "00000000-0000-0000-0000-000000000000";

describe("the list of grants", () => {
  it("has every table, view and function of the schema, and no other", async () => {
    const { rows: tables } = await scene.owner.query<{ name: string }>(
      `select relname as name from pg_class c where relnamespace = 'drs'::regnamespace and relkind in ('r', 'p', 'v')
        and not relispartition`,
    );
    expect(tables.map(({ name }) => name).toSorted()).toEqual(Object.keys(TABLE_GRANTS).toSorted());
    const { rows: functions } = await scene.owner.query<{ name: string }>(
      "select proname as name from pg_proc where pronamespace = 'drs'::regnamespace",
    );
    expect(functions.map(({ name }) => name).toSorted()).toEqual(Object.keys(FUNCTION_GRANTS).toSorted());
  });

  it("revokes privileges that were granted by hand", async () => {
    await scene.owner.query(
      "grant select on event to drs_admin; update schema_definition set digest = '' where name = 'grants'",
    );
    await migrate({ connectionString: scene.environment["DRS_DATABASE_URL"] ?? "" });
    await expect(admin.query("select payload from event")).rejects.toMatchObject(DENIED);
  });
});

describe("a login of", () => {
  it.each([
    "select payload from event",
    "select payload from live_event",
    "select payload from kept_event",
    "select payload from held_event",
    "select * from readable_event",
    "select * from audit_entry",
    "select reason from erasure",
    "select * from admin_token",
    "select * from access_case",
    "insert into session_token (account) values ('a')",
    "insert into action (account) values ('a')",
    "insert into admin_session select from generate_series(1, 1)",
    "insert into approval_decision (person) values ('ann')",
    "update event set account = 'x'",
    "delete from event",
    "delete from audit_entry",
    "update audit_entry set actor = 'x'",
    "delete from idempotency_key",
    "insert into legal_hold (hold_id) values (gen_random_uuid())",
    "insert into audit_checkpoint (size) values (1)",
    "select setval('compared_payload', 0)",
    "select reveal_event(gen_random_uuid(), 'a', 1, now(), gen_random_uuid())",
    "select reveal_features(gen_random_uuid(), '{}', '{}', '{}', '{}')",
    "select drop_expired_partition(gen_random_uuid())",
    "set role drs_service",
    "set role drs_admin",
  ])("ingestion may not: %s", async (text) => {
    await expect(ingest.query(text)).rejects.toMatchObject(DENIED);
  });

  it.each([
    "select payload from event",
    "select * from event",
    "select payload from live_event",
    "select e from unrestricted_event e",
    "select payload from kept_event",
    "select payload from held_event",
    "select * from readable_event",
    "copy (select payload from live_event) to stdout",
    "select payload from feature_row",
    "select payload from held_feature",
    "select payload from live_feature",
    "select f from unrestricted_feature f",
    "select committed_entry(gen_random_uuid(), '{feature.read}')",
    "select read_payload_to_compare('customer-1', 'key')",
    "insert into event (account) values ('a')",
    "update event set account = 'x'",
    "delete from event",
    "delete from audit_entry",
    "update audit_entry set actor = 'x'",
    "insert into admin_token (person) values ('ann')",
    "update admin_token set roles = '{privacy}'",
    "insert into drift_decision (decided_at) values (now())",
    "insert into drift_decision (decision) overriding system value values (0)",
    "insert into audit_secret (created_at) values (now())",
    "insert into audit_verification (result) values ('{}')",
    "update audit_review set entry_id = gen_random_uuid()",
    "delete from audit_review",
    "update audit_review_end set ended_at = now()",
    "delete from audit_review_end",
    "update approval set needed_roles = '{}'",
    "delete from approval_decision",
    "insert into purpose (code, id, title) values (2, 'x', 'x')",
    "insert into retention_run (run_id) values (gen_random_uuid())",
    "select drop_expired_partition(gen_random_uuid())",
    "select delete_expired_events(gen_random_uuid(), 1)",
    "set role drs_service",
    "set role drs_ingest",
  ])("the admin API may not: %s", async (text) => {
    await expect(admin.query(text)).rejects.toMatchObject(DENIED);
  });
});

/** Rows with columns that no login chooses, as a login of the admin API inserts them, and what these columns then have. */
const FILLED_IN: readonly (readonly [table: string, row: string, filled: string])[] = [
  [
    "audit_entry",
    `(entry_id, at, actor, via, operation, outcome, occurrences, record, mac, written_at, xid, login)
      values (gen_random_uuid(), now(), 'ann', 'api', 'o', 'done', 1, '', sha256(''), 'epoch', '3', 'another')`,
    "written_at = transaction_time() and xid = pg_current_xact_id() and login = session_user",
  ],
  [
    "audit_review",
    `(review_id, entry_id, opened_at, mac, written_at)
      values (gen_random_uuid(), gen_random_uuid(), now(), sha256(''), 'epoch')`,
    "written_at = transaction_time()",
  ],
  [
    "audit_review_end",
    "(end_id, review_id, mac, ended_at) select gen_random_uuid(), review_id, sha256(''), 'epoch' from audit_review limit 1",
    "ended_at = transaction_time()",
  ],
  [
    "approval",
    `(approval_id, operation, parameters, plan, max_events, digest, needed_roles, reason, requested_by, requested_at,
        expires_at, mac, written_at)
      values (gen_random_uuid(), 'o', '{}', '{}', 1, sha256(''), '{privacy}', 'r', 'ann', date_trunc('second', now()),
        now(), sha256(''), 'epoch')`,
    "written_at = transaction_time()",
  ],
  [
    "approval_decision",
    `(approval_id, role, person, decision, decided_at, mac, written_at)
      select approval_id, 'privacy', 'bob', 'denied', now(), sha256(''), 'epoch' from approval limit 1`,
    "written_at = transaction_time()",
  ],
];

it("a login of the admin API chooses no column that the database fills in", async () => {
  await admin.query("begin");
  try {
    for (const [table, row, filled] of FILLED_IN) {
      const { rows } = await admin.query(`insert into ${table} ${row} returning ${filled} as filled`);
      expect(rows, table).toEqual([{ filled: true }]);
    }
  } finally {
    await admin.query("rollback");
  }
});

/**
 * Rows that have ended, as the owner inserts them. `column` contains the time of the end, which no login may change.
 */
const ENDED: readonly (readonly [table: string, column: string, row: string])[] = [
  [
    "session_token",
    "revoked_at",
    "(token_hash, token_id, account, issued_at, expires_at, revoked_at) values ('ended', gen_random_uuid(), 'a', $1, $1, $1)",
  ],
  [
    "action",
    "revoked_at",
    "(account, action_id, action_type, registered_at, expires_at, revoked_at) values ('a', 'ended', 't', $1, $1, $1)",
  ],
  [
    "admin_token",
    "revoked_at",
    "(token_hash, token_id, person, roles, issued_at, expires_at, revoked_at) values ('ended', gen_random_uuid(), 'ann', '{auditor}', $1, $1, $1)",
  ],
  [
    "access_case",
    "closed_at",
    "(case_id, category, reason, scope, account, opened_by, opened_at, expires_at, closed_at) values (gen_random_uuid(), 'dispute', 'r', 'account', 'a', 'ann', $1, $1, $1)",
  ],
  [
    "approval",
    "used_at",
    "(approval_id, operation, parameters, plan, max_events, digest, needed_roles, reason, requested_by, requested_at, expires_at, used_at, mac) values (gen_random_uuid(), 'o', '{}', '{}', 1, sha256(''), '{privacy}', 'r', 'ann', $1, $1, $1, sha256(''))",
  ],
];

it.each(ENDED)("a login of the admin API does not undo the end of a row of %s", async (table, column, row) => {
  const ended = "2026-01-31T00:00:00Z";
  await scene.owner.query(`insert into ${table} ${row}`, [ended]);
  for (const value of ["null", "transaction_time()"]) {
    const undone = admin.query(`update ${table} set ${column} = ${value} where ${column} = $1`, [ended]);
    await expect(undone).rejects.toMatchObject({ code: "23001" });
  }
});

/** Rows that a list shows, newest first, as a login of the admin API inserts them with their time. */
const LISTED: readonly (readonly [table: string, row: string])[] = [
  [
    "session_token",
    "(token_hash, token_id, account, issued_at, expires_at) values (uuid_send(gen_random_uuid()), gen_random_uuid(), 'a', $1, '2026-02-01')",
  ],
  [
    "action",
    "(account, action_id, action_type, registered_at, expires_at) values ('a', gen_random_uuid(), 't', $1, '2026-02-01')",
  ],
  [
    "admin_session",
    "(secret_hash, session_id, kind, person, identity, roles, granted_by, started_at, last_used_at, expires_at, mac) values (uuid_send(gen_random_uuid()), gen_random_uuid(), 'login', 'ann', 'i', '{auditor}', '{}', $1, '2026-01-31', '2026-02-01', '')",
  ],
  [
    "signed_in_identity",
    "(identity, person, roles, signed_in_at) values (encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 'ann', '{auditor}', $1)",
  ],
  [
    "access_case",
    "(case_id, category, reason, scope, account, opened_by, opened_at, expires_at) values (gen_random_uuid(), 'dispute', 'r', 'account', 'a', 'ann', $1, '2020-01-01')",
  ],
];

it.each(LISTED)("a login of the admin API inserts no row of %s that ends a page of its list", async (table, row) => {
  await admin.query(`insert into ${table} ${row}`, ["2026-01-31T00:00:00.001Z"]);
  for (const time of ["infinity", "-infinity", "10000-01-01Z", "0044-03-15 BC", "2026-01-31T00:00:00.000001Z"]) {
    const inserted = admin.query(`insert into ${table} ${row}`, [time]);
    // Before PostgreSQL 17, a check that subtracts two times fails for an infinite one (22008).
    await expect(inserted, time).rejects.toMatchObject({ code: expect.stringMatching(/^(?:23514|22008)$/) });
  }
});

describe("a login of servers", () => {
  it("does not extend the log of the audit", async () => {
    const service = await connectWith("drs_service", "log");
    for (const text of [
      "insert into audit_leaf (epoch, leaf, entry_id, hash, verified) values (1, 0, gen_random_uuid(), '', true)",
      "insert into audit_checkpoint (epoch, size, at, note, roots, upto) values (1, 1, now(), '', '{}', '0')",
    ]) {
      await expect(service.query(text)).rejects.toMatchObject(DENIED);
    }
  });

  it("names only a secret that is to be destroyed, once, for the next receipt", async () => {
    const service = await connectWith("drs_service");
    const at = "2020-01-01T00:00:00Z";
    const partition = async (table: string, dropped: string | null, destroyed: string | null): Promise<string> => {
      const { rows } = await scene.owner.query<{ id: string }>(
        `insert into ${table} (purpose, lower_bound, upper_bound, table_name, dropped_at, secret_destroyed_at)
          select 1, coalesce(max(lower_bound), '2000-01-01') + interval '1 hour',
            coalesce(max(lower_bound), '2000-01-01') + interval '2 hours', gen_random_uuid(), $1, $2 from ${table}
          returning partition_id as id`,
        [dropped, destroyed],
      );
      return rows[0]?.id ?? "";
    };
    const hold = async (lifted: string | null, destroyed: string | null): Promise<string> => {
      const { rows } = await scene.owner.query<{ id: string }>(
        `insert into legal_hold (hold_id, account, reason, approver, review_on, placed_at, placed_by, lifted_at,
            secret_destroyed_at)
          values (gen_random_uuid(), gen_random_uuid(), 'r', 'a', '2020-01-01', $1, 'p', $2, $3) returning hold_id as id`,
        [at, lifted, destroyed],
      );
      return rows[0]?.id ?? "";
    };
    const secrets = async (table: string) => [
      await partition(table, null, null),
      await partition(table, at, at),
      await partition(table, at, null),
    ];
    const [events, features] = [await secrets("event_partition"), await secrets("feature_partition")];
    const holds = [await hold(null, null), await hold(at, at), await hold(at, null)];
    for (const id of [...events, ...features, ...holds, ...holds, NO_ID]) {
      await service.query("select record_secret_to_destroy($1)", [id]);
    }
    const { rows } = await scene.owner.query<{ secret_of: string }>(
      "select secret_of from retention_effect where secret_of is not null order by effect_id",
    );
    expect(rows.map(({ secret_of }) => secret_of)).toEqual([events[2], features[2], holds[2]]);
  });
});

describe("a read of a payload for a retry", () => {
  const read = "select payload from read_payload_to_compare($1, $2)";
  const key = [event.account, event.idempotencyKey];
  const counted = async (): Promise<number> =>
    (await ingest.query<{ payloads: number }>("select count_compared_payloads() as payloads")).rows[0]?.payloads ?? 0;

  it("reads the payload of one idempotency key, and is counted even if the transaction is rolled back", async () => {
    const before = await counted();
    await ingest.query("begin");
    expect((await ingest.query(read, key)).rows).toEqual([{ payload: event.sealed.payload }]);
    await ingest.query("rollback");
    expect((await ingest.query(read, ["another", event.idempotencyKey])).rows).toEqual([]);
    expect(await counted()).toBe(before + 2);
  });

  it("reads at most ten thousand payloads in an hour, and the next hour begins at zero", async () => {
    await ingest.query(read, key);
    const { rows } = await scene.owner.query("select last_value as value from compared_payload");
    const { value } = rows[0] as unknown as { value: string };
    const hour = BigInt(value) - (BigInt(value) % 1_000_000_000n);
    await scene.owner.query("select setval('compared_payload', $1)", [String(hour + 9_999n)]);
    expect((await ingest.query(read, key)).rows).toHaveLength(1);
    await expect(ingest.query(read, key)).rejects.toMatchObject({ code: "54000" });
    const store = await openEventStore(scene.system, { executor: ingest });
    await expect(store.findStored(event.account, event.idempotencyKey)).rejects.toMatchObject({
      code: "dependency-unavailable",
    });
    await scene.owner.query("select setval('compared_payload', $1)", [String(hour - 1n)]);
    expect((await ingest.query(read, key)).rows).toHaveLength(1);
    expect(await counted()).toBe(1);
  });

  it("is counted even if two calls meet at the turn of an hour", async () => {
    const other = await connectWith("drs_ingest", "other");
    await ingest.query(read, key);
    const { rows } = await scene.owner.query("select last_value as value from compared_payload");
    const { value } = rows[0] as unknown as { value: string };
    const hour = BigInt(value) - (BigInt(value) % 1_000_000_000n);
    await scene.owner.query("select setval('compared_payload', $1)", [String(hour - 1n)]);
    await ingest.query("begin");
    await ingest.query(read, key);
    await scene.owner.query("select setval('compared_payload', $1)", [String(hour - 1n)]);
    const waiting = other.query(read, key);
    const waits =
      "select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())";
    await until(async () => (await scene.owner.query(waits)).rowCount === 1);
    await scene.owner.query("select setval('compared_payload', $1)", [String(hour + 7n)]);
    await ingest.query("commit");
    await waiting;
    expect(await counted()).toBe(8);
  });
});

describe("an entry of an administrator that a stolen login of ingestion forged", () => {
  it("is found by drs audit verify", async () => {
    const drs = (...args: readonly string[]): ReturnType<typeof runWithBreakGlass> =>
      runWithBreakGlass(scene.environment, ...args);
    expect(await drs("audit", "checkpoint")).toMatchObject({ code: 0 });
    expect((await drs("audit", "verify")).code).not.toBe(6);
    const { surfaces } = scene.system.audit;
    const entry = { entryId: uuidv7(Date.now()), at: Date.now(), actor: "ann", operation: "event.read_raw" };
    const forged = { ...entry, via: "api", outcome: "done", occurrences: 1, eventIds: [event.eventId] };
    // The attacker has the key of the entries of ingestion, too.
    await insertEntries(ingest, [signOutsideLane({ surface: "admin", key: surfaces.ingest as KeyObject }, forged)]);
    expect(await drs("audit", "checkpoint")).toMatchObject({ code: 0 });
    const { code, stdout } = await drs("audit", "verify");
    expect([code, stdout]).toEqual([6, expect.stringContaining(entry.entryId)]);
  });
});
