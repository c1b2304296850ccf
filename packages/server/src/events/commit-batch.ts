import type pg from "pg";
import { uuidv7 } from "../identifiers/uuidv7.ts";
import { isSameKeyEpoch, type NewEvent } from "../ports.ts";
import type { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import type { Lane, LaneEntry, SignedEntry } from "../audit/log/lane.ts";
import { ACCEPTED, INGESTION } from "../audit/log/surfaces.ts";
import { compareText } from "./compare-text.ts";
import { byteaArray, int4Array, textArray, timestamptzArray, uuidArray } from "../postgres/binary-array.ts";
import { runTogether } from "../postgres/bounded-client.ts";
import { type ParametersOfStatement, queryPrepared, sql } from "../postgres/statement.ts";

const LATEST_ERASURE = "(select coalesce(max(sequence), 0) from erasure)";
const LATEST_LOSS = "(select coalesce(max(loss_id), 0) from secret_loss)";

/** The active policy. It does not change while a batch holds the ingestion lock, which `applyPolicy` excludes. */
const LATEST_POLICY = "(select coalesce(max(version), 0) from policy)";

const CLAIM_KEYS = sql(
  `insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
    select account, key, event_id, purpose, received_at, request_mac, key_id
    from unnest($1::text[], $2::text[], $3::uuid[], $4::int4[], $5::timestamptz[], $6::bytea[], $7::uuid[], $8::bytea[])
      as asked (account, key, event_id, purpose, received_at, request_mac, key_id, name_mac)
    -- guard(true): what was sealed before an erasure is sealed again
    -- fails: e2e/erasure/concurrency.test.ts › a commit batch that waited
    where (${LATEST_ERASURE}, ${LATEST_LOSS}) = ($9, $10)
      -- guard(true): an event is stored under the active policy
      -- fails: e2e/purposes.test.ts › from the moment it is applied
      and ${LATEST_POLICY} = $11
      -- guard(true): an idempotency key with a tombstone is taken
      -- fails: e2e/erasure/account.test.ts › deletes one event, or the events of one action
      and not exists (select from tombstone t where t.name_mac = asked.name_mac)
    on conflict do nothing
    returning event_id`,
  ["text[]", "text[]", "uuid[]", "int4[]", "timestamptz[]", "bytea[]", "uuid[]", "bytea[]", "int8", "int8", "int4"],
  { event_id: "uuid" },
);

/** The lock comes first, so that no other transaction changes erasures that the next statement reads. */
const BEGIN_BATCH = "begin; select lock_ingestion_shared()";

const READ_LATEST = sql(`select ${LATEST_ERASURE} as erasure, ${LATEST_LOSS} as loss, ${LATEST_POLICY} as policy`, [], {
  erasure: "int8",
  loss: "int8",
  policy: "int4",
});

/**
 * If a layer is active, or if the event was received before its end, a row records that the features of the event are
 * due. An adoption of features excludes commit batches, so that a batch that commits after the adoption reads the
 * layer.
 */
const INSERT_EVENTS = sql(
  `with due as (
      insert into extraction_due (purposes, received_at, event_ids) select $2, $3, $4
        -- guard(true): nothing is due while no feature is adopted
        -- fails: packages/server/src/features/feature-store.test.ts › are due from
        where exists (select from layer where purpose = any ($2::int4[])
          and (ended_at is null
            -- guard(false): what was received before the end of a layer and commits after it is due, too
            -- fails: packages/server/src/features/feature-store.test.ts › are due from
            or ended_at > (select min(at) from unnest($3::timestamptz[]) at))))
    insert into event (account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key,
      action_id, action_type, session_id, event_type, sdk_version, platform, app_version, payload, key_id)
    select * from unnest($1::text[], $2::int4[], $3::timestamptz[], $4::uuid[], $5::timestamptz[], $6::int4[], $7::text[],
      $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bytea[],
      $16::uuid[])`,
  [
    "text[]",
    "int4[]",
    "timestamptz[]",
    "uuid[]",
    "timestamptz[]",
    "int4[]",
    "text[]",
    "text[]",
    "text[]",
    "text[]",
    "text[]",
    "text[]",
    "text[]",
    "text[]",
    "bytea[]",
    "uuid[]",
  ],
);

const INSERT_AUDIT = sql(
  `insert into audit_entry (entry_id, at, actor, via, operation, outcome, occurrences, subjects, event_ids, record, mac,
      lane, lane_number)
    values ($1, $2, '${INGESTION.actor}', '${INGESTION.via}', '${INGESTION.operation}', '${ACCEPTED}', $3, $4::bytea[],
      $5::uuid[], $6, $7, $8, $9)`,
  ["uuid", "timestamptz", "int8", "bytea[]", "uuid[]", "bytea", "bytea", "uuid", "int8"],
);

export type CommitResult = "stored" | "taken" | "stale";

/**
 * Commits events in one transaction: keys, events and one audit entry that lists them. It needs two round trips, each
 * with one write; the second is sent after the holders of the keys are known.
 *
 * @param client a client in pipeline mode, so that statements of one round trip need not wait for each other.
 * @returns for each event: `stored`; `taken` if its idempotency key is in use; `stale` if its secrets were erased or
 * lost after it was sealed, or if a policy was applied after its purpose was chosen.
 */
export async function commitBatch(
  client: pg.Client,
  events: readonly NewEvent[],
  pseudonymizer: Pseudonymizer,
  lane: Lane,
): Promise<readonly CommitResult[]> {
  // Batches with the same keys claim them in one order, so that they never wait for each other in a circle.
  const sorted = events.toSorted(
    (a, b) => compareText(a.account, b.account) || compareText(a.idempotencyKey, b.idempotencyKey),
  );
  let isWritten = false;
  try {
    const columns = sharedColumns(sorted);
    const stored = await claimKeys(client, sorted, columns, pseudonymizer);
    if (stored === "stale" || stored.length === 0) {
      await client.query("rollback");
      return events.map(() => (stored === "stale" ? "stale" : "taken"));
    }
    const storedColumns = stored.length === sorted.length ? columns : sharedColumns(stored);
    const [entry] = lane.sign([entryOf(stored, pseudonymizer)]);
    if (!entry) throw new Error("a lane signs each entry");
    isWritten = true;
    const eventValues = eventColumns(stored, storedColumns);
    const auditValues = auditColumns(stored, storedColumns, entry);
    const [, , commit] = await runTogether(client, (statements) =>
      Promise.all([
        queryPrepared(statements, "insert_events", INSERT_EVENTS, eventValues),
        queryPrepared(statements, "insert_batch_audit", INSERT_AUDIT, auditValues),
        statements.query("commit"),
      ]),
    );
    if (commit.command !== "COMMIT") throw new Error("the transaction was rolled back");
    lane.acknowledge();
    if (stored.length === events.length) return events.map(() => "stored");
    const ids = new Set(stored.map((event) => event.eventId));
    return events.map((event) => (ids.has(event.eventId) ? "stored" : "taken"));
  } catch (error) {
    if (isWritten) lane.renew();
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** @returns the events that now hold their keys. */
async function claimKeys(
  client: pg.Client,
  events: readonly NewEvent[],
  { accounts, keys, eventIds, purposes, receivedAt, keyIds }: SharedColumns,
  pseudonymizer: Pseudonymizer,
): Promise<readonly NewEvent[] | "stale"> {
  const [first] = events;
  if (!first) return [];
  const { policyVersion: policy } = first;
  const { keyEpoch } = first.sealed;
  if (events.some((event) => !isSameKeyEpoch(event.sealed.keyEpoch, keyEpoch) || event.policyVersion !== policy))
    return "stale";
  const values = [
    accounts,
    keys,
    eventIds,
    purposes,
    receivedAt,
    byteaArray(events.map((event) => event.requestMac)),
    keyIds,
    byteaArray(events.map((event) => pseudonymizer.tombstoneNameOf(event.account, event.idempotencyKey))),
    keyEpoch.erasure,
    keyEpoch.loss,
    policy,
  ] as const;
  const [, { rows: claimed }] = await runTogether(client, (statements) =>
    Promise.all([statements.query(BEGIN_BATCH), queryPrepared(statements, "claim_keys", CLAIM_KEYS, values)]),
  );
  // guard(true): one event for each idempotency key
  // fails: e2e/exactly-once.test.ts › rounds of
  if (claimed.length === events.length) return events;
  // The returned rows are counted, because the command tag of a distributed table counts the selected rows.
  const [latest] = (await queryPrepared(client, "latest_key_epoch_and_policy", READ_LATEST)).rows;
  if (!latest || !isSameKeyEpoch(latest, keyEpoch) || latest.policy !== policy) return "stale";
  const ids = new Set(claimed.map(({ event_id }) => event_id));
  return events.filter((event) => ids.has(event.eventId));
}

/** Arrays that several statements of a batch need. They are encoded once. */
interface SharedColumns {
  readonly accounts: Buffer;
  readonly keys: Buffer;
  readonly eventIds: Buffer;
  readonly purposes: Buffer;
  readonly receivedAt: Buffer;
  readonly keyIds: Buffer;
}

function sharedColumns(events: readonly NewEvent[]): SharedColumns {
  return {
    accounts: textArray(events.map((event) => event.account)),
    keys: textArray(events.map((event) => event.idempotencyKey)),
    eventIds: uuidArray(events.map((event) => event.eventId)),
    purposes: int4Array(events.map((event) => event.purpose)),
    receivedAt: timestamptzArray(events.map((event) => ({ epochMs: event.receivedAt }))),
    keyIds: uuidArray(events.map((event) => event.sealed.keyId)),
  };
}

function eventColumns(
  events: readonly NewEvent[],
  { accounts, keys, eventIds, purposes, receivedAt, keyIds }: SharedColumns,
): ParametersOfStatement<typeof INSERT_EVENTS> {
  return [
    accounts,
    purposes,
    receivedAt,
    eventIds,
    timestamptzArray(events.map((event) => event.collectedAt)),
    int4Array(events.map((event) => event.schemaVersion)),
    keys,
    textArray(events.map((event) => event.actionId)),
    textArray(events.map((event) => event.actionType)),
    textArray(events.map((event) => event.sessionId)),
    textArray(events.map((event) => event.eventType)),
    textArray(events.map((event) => event.sdkVersion)),
    textArray(events.map((event) => event.platform)),
    textArray(events.map((event) => event.appVersion)),
    byteaArray(events.map((event) => event.sealed.payload)),
    keyIds,
  ];
}

function entryOf(events: readonly NewEvent[], pseudonymizer: Pseudonymizer): LaneEntry {
  const at = events.reduce((latest, event) => Math.max(latest, event.receivedAt), 0);
  return {
    ...INGESTION,
    outcome: ACCEPTED,
    entryId: uuidv7(at),
    at,
    occurrences: events.length,
    subjects: events.map((event) => pseudonymizer.subjectOf("account", event.account)),
    eventIds: events.map((event) => event.eventId),
  };
}

/** The columns that copy the record of a batch. */
function auditColumns(
  events: readonly NewEvent[],
  { eventIds }: SharedColumns,
  { record: { entryId, at, subjects = [], place }, bytes, mac }: SignedEntry,
): ParametersOfStatement<typeof INSERT_AUDIT> {
  if (!place) throw new Error("an entry of a batch is in a lane");
  const { lane, number } = place;
  return [entryId, new Date(at).toISOString(), events.length, byteaArray(subjects), eventIds, bytes, mac, lane, number];
}
