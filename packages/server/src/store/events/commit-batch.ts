import type pg from "pg";
import { uuidv7 } from "../../base/identifiers/uuidv7.ts";
import { isSameKeyEpoch, type NewEvent } from "../../base/ports.ts";
import type { Pseudonymizer } from "../crypto/pseudonymizer.ts";
import type { Lane, LaneEntry, SignedEntry } from "../audit-record/lane.ts";
import { ACCEPTED, INGESTION } from "../audit-record/surfaces.ts";
import { compareText } from "./compare-text.ts";
import { byteaArray, int4Array, textArray, timestamptzArray, uuidArray } from "../postgres/binary-array.ts";
import { BYTEA, INT4, TEXT, TIMESTAMPTZ, UUID } from "../postgres/binary-format.ts";
import { runTogether } from "../postgres/bounded-client.ts";
import { copied, copyIn, copyRows, encodeCopy } from "../postgres/copy-in.ts";
import { type ParametersOfStatement, queryPrepared, sql } from "../postgres/statement.ts";

const LATEST_ERASURE = "(select coalesce(max(sequence), 0) from erasure)";
const LATEST_LOSS = "(select coalesce(max(loss_id), 0) from secret_loss)";

/**
 * The active policy. It does not change while a batch holds the ingestion lock, because `applyPolicy` waits for that
 * lock.
 */
const LATEST_POLICY = "(select coalesce(max(version), 0) from policy)";

const CLAIM_KEYS = sql(
  `insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
    select account, key, event_id, purpose, received_at, request_mac, key_id
    from unnest($1::text[], $2::text[], $3::uuid[], $4::int4[], $5::timestamptz[], $6::bytea[], $7::uuid[], $8::bytea[])
      as asked (account, key, event_id, purpose, received_at, request_mac, key_id, name_mac)
    -- guard(true): an event that was sealed before an erasure is sealed again
    where (${LATEST_ERASURE}, ${LATEST_LOSS}) = ($9, $10)
      -- guard(true): an event is stored under the active policy
      and ${LATEST_POLICY} = $11
      -- guard(true): an idempotency key with a tombstone is taken
      and not exists (select 1 from tombstone t where t.name_mac = asked.name_mac)
    on conflict do nothing
    returning event_id`,
  ["text[]", "text[]", "uuid[]", "int4[]", "timestamptz[]", "bytea[]", "uuid[]", "bytea[]", "int8", "int8", "int4"],
  { event_id: "uuid" },
);

/** The lock comes first, so that no other transaction changes erasures that the next statement reads. */
const LOCK_INGESTION = sql("select lock_ingestion_shared()");

const READ_LATEST = sql(`select ${LATEST_ERASURE} as erasure, ${LATEST_LOSS} as loss, ${LATEST_POLICY} as policy`, [], {
  erasure: "int8",
  loss: "int8",
  policy: "int4",
});

/**
 * If a layer of the batch's purposes is active, or if an event of the batch was received before the end of such a
 * layer, a row records that the features of the batch's events are due. An adoption of features excludes commit
 * batches, so that a batch that commits after the adoption reads the layer.
 */
const RECORD_DUE = sql(
  `insert into extraction_due (purposes, received_at, event_ids) select $1, $2, $3
    -- guard(true): nothing is due while no feature is adopted
    where exists (select 1 from layer where purpose = any ($1::int4[])
      and (ended_at is null
        -- guard(false): events that were received before the end of a layer and are committed after it are due
        or ended_at > (select min(at) from unnest($2::timestamptz[]) at)))`,
  ["int4[]", "timestamptz[]", "uuid[]"],
);

/** PostgreSQL needs less time for COPY than for an INSERT of the same rows. */
const COPY_EVENTS = copyIn<NewEvent>("copy event", [
  copied("account", TEXT, (event) => event.account),
  copied("purpose", INT4, (event) => event.purpose),
  copied("received_at", TIMESTAMPTZ, (event) => ({ epochMs: event.receivedAt })),
  copied("event_id", UUID, (event) => event.eventId),
  copied("collected_at", TIMESTAMPTZ, (event) => event.collectedAt),
  copied("schema_version", INT4, (event) => event.schemaVersion),
  copied("idempotency_key", TEXT, (event) => event.idempotencyKey),
  copied("action_id", TEXT, (event) => event.actionId),
  copied("action_type", TEXT, (event) => event.actionType),
  copied("session_id", TEXT, (event) => event.sessionId),
  copied("event_type", TEXT, (event) => event.eventType),
  copied("sdk_version", TEXT, (event) => event.sdkVersion),
  copied("platform", TEXT, (event) => event.platform),
  copied("app_version", TEXT, (event) => event.appVersion),
  copied("payload", BYTEA, (event) => event.sealed.payload),
  copied("key_id", UUID, (event) => event.sealed.keyId),
]);

const INSERT_AUDIT = sql(
  `insert into audit_entry (entry_id, at, actor, via, operation, outcome, occurrences, subjects, event_ids, record, mac,
      lane, lane_number)
    values ($1, $2, '${INGESTION.actor}', '${INGESTION.via}', '${INGESTION.operation}', '${ACCEPTED}', $3, $4::bytea[],
      $5::uuid[], $6, $7, $8, $9)`,
  ["uuid", "timestamptz", "int8", "bytea[]", "uuid[]", "bytea", "bytea", "uuid", "int8"],
);

export type CommitResult = "stored" | "taken" | "stale";

/**
 * Commits events in one transaction: their idempotency keys, their rows, and one audit entry that lists the events. If
 * all keys are free, this needs two round trips, each with one write to the socket. The second one is sent when it is
 * known which keys the events have claimed.
 *
 * @param client a client in pipeline mode, so that statements of one round trip need not wait for each other.
 * @returns for each event: `stored`; `taken` if its idempotency key is in use; `stale`, for all events, if one of them
 * was sealed before the latest erasure or accepted loss of secrets, or if a policy was applied after its purpose was
 * chosen.
 */
export async function commitBatch(
  client: pg.Client,
  events: readonly NewEvent[],
  pseudonymizer: Pseudonymizer,
  lane: Lane,
): Promise<readonly CommitResult[]> {
  // Batches with the same keys claim them in the same order, so that they cause no deadlock.
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
    const { purposes, receivedAt, eventIds } = storedColumns;
    const copy = encodeCopy(COPY_EVENTS, stored);
    const auditValues = auditColumns(stored, storedColumns, entry);
    const [, , , commit] = await runTogether(client, (statements) =>
      Promise.all([
        queryPrepared(statements, "record_due", RECORD_DUE, [purposes, receivedAt, eventIds]),
        copyRows(statements, copy),
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

/** @returns the events that now hold their keys, or `stale`, as `commitBatch` does. */
async function claimKeys(
  client: pg.Client,
  events: readonly NewEvent[],
  { eventIds, purposes, receivedAt }: SharedColumns,
  pseudonymizer: Pseudonymizer,
): Promise<readonly NewEvent[] | "stale"> {
  const [first] = events;
  if (!first) return [];
  const { policyVersion: policy } = first;
  const { keyEpoch } = first.sealed;
  if (events.some((event) => !isSameKeyEpoch(event.sealed.keyEpoch, keyEpoch) || event.policyVersion !== policy))
    return "stale";
  const values = [
    textArray(events.map((event) => event.account)),
    textArray(events.map((event) => event.idempotencyKey)),
    eventIds,
    purposes,
    receivedAt,
    byteaArray(events.map((event) => event.requestMac)),
    uuidArray(events.map((event) => event.sealed.keyId)),
    byteaArray(events.map((event) => pseudonymizer.tombstoneNameOf(event.account, event.idempotencyKey))),
    keyEpoch.erasure,
    keyEpoch.loss,
    policy,
  ] as const;
  const [, , { rows: claimed }] = await runTogether(client, (statements) =>
    Promise.all([
      statements.query("begin"),
      queryPrepared(statements, "lock_ingestion", LOCK_INGESTION),
      queryPrepared(statements, "claim_keys", CLAIM_KEYS, values),
    ]),
  );
  // guard(true): a batch stores only the events whose idempotency keys it claimed
  if (claimed.length === events.length) return events;
  // The returned rows are counted, because the command tag of a distributed table counts the selected rows.
  const [latest] = (await queryPrepared(client, "latest_key_epoch_and_policy", READ_LATEST)).rows;
  if (!latest || !isSameKeyEpoch(latest, keyEpoch) || latest.policy !== policy) return "stale";
  const ids = new Set(claimed.map(({ event_id }) => event_id));
  return events.filter((event) => ids.has(event.eventId));
}

/** Columns of the batch, as encoded arrays. They are encoded once, because several statements use them. */
interface SharedColumns {
  readonly eventIds: Buffer;
  readonly purposes: Buffer;
  readonly receivedAt: Buffer;
}

function sharedColumns(events: readonly NewEvent[]): SharedColumns {
  return {
    eventIds: uuidArray(events.map((event) => event.eventId)),
    purposes: int4Array(events.map((event) => event.purpose)),
    receivedAt: timestamptzArray(events.map((event) => ({ epochMs: event.receivedAt }))),
  };
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

/** The columns of the audit entry of a batch. They contain the same values as its signed record. */
function auditColumns(
  events: readonly NewEvent[],
  { eventIds }: SharedColumns,
  { record: { entryId, at, subjects = [], place }, bytes, mac }: SignedEntry,
): ParametersOfStatement<typeof INSERT_AUDIT> {
  if (!place) throw new Error("an entry of a batch is in a lane");
  const { lane, number } = place;
  return [entryId, new Date(at).toISOString(), events.length, byteaArray(subjects), eventIds, bytes, mac, lane, number];
}
