/** The table of feature values. */
import type { Executor, Transaction } from "../store/postgres/executor.ts";
import { compareText } from "../store/events/compare-text.ts";
import { receivedAtOf, type ReadOptions } from "../store/events/read-events.ts";
import {
  type Partition,
  partitionQuery,
  type PartitionQuery,
  queryPartitions,
} from "../store/events/partition-slices.ts";
import { byteaArray, int4Array, textArray, timestamptzArray, uuidArray } from "../store/postgres/binary-array.ts";
import { exactInstantOf, instant } from "../store/postgres/instant.ts";
import { queryRevealed } from "../store/postgres/query-revealed.ts";
import {
  type Columns,
  type ParameterType,
  query,
  type RowOf,
  sql,
  type Statement,
} from "../store/postgres/statement.ts";
import { readPolicyVersion } from "../purposes/policy-table.ts";
import { Unavailable } from "../base/ports.ts";
import { findFeaturePartitions } from "./feature-partitions.ts";

/** The features of one event in one layer, sealed. */
export interface NewFeatureRow {
  readonly account: string;
  readonly purpose: number;
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  readonly eventId: string;
  readonly layer: number;
  readonly idempotencyKey: string;
  readonly actionId: string;
  readonly actionType: string;
  readonly platform: string;
  readonly sdkVersion: string;
  readonly appVersion: string;
  readonly schemaVersion: number;
  readonly keyId: string;
  readonly payload: Buffer;
}

const LOCK_INGESTION_SHARED = sql("select lock_ingestion_shared()");

const INSERT_ROWS = sql(
  `insert into feature_row (account, purpose, received_at, event_id, layer, action_id, action_type, platform,
      sdk_version, app_version, schema_version, key_id, payload, run_id, extracted_at)
    select account, purpose, received_at, event_id, layer, action_id, action_type, platform, sdk_version, app_version,
        schema_version, key_id, payload, $15,
        -- A clock that was set back makes no value older than its event, nor part of an export or of an attestation
        -- that began before.
        greatest(
          -- guard(drop): values that are stored after an export are not in its repetition
          (select max(watermark) + interval '1 microsecond' from data_export),
          -- guard(drop): values that are stored after an attestation do not count as missing in it
          (select max(attested_at) from attestation_start),
          -- guard(drop): no value was known before its event
          received_at,
          wall_clock_time())
      from unnest($1::text[], $2::int4[], $3::timestamptz[], $4::uuid[], $5::int4[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::int4[], $12::uuid[], $13::bytea[], $14::text[])
        as computed (account, purpose, received_at, event_id, layer, action_id, action_type, platform, sdk_version,
          app_version, schema_version, key_id, payload, idempotency_key)
      -- guard(true): values of an account that was erased meanwhile are not stored
      where exists (select 1 from account_key k where k.key_id = computed.key_id and k.erased_by is null
        -- guard(true): values of an account that was restricted meanwhile are not stored
        and not k.restricted)
        -- guard(true): values of an event that was erased meanwhile are not stored
        and exists (select 1 from idempotency_key i where i.account = computed.account
          and i.key = computed.idempotency_key and i.event_id = computed.event_id)
    on conflict do nothing
    returning event_id, layer`,
  [
    "text[]",
    "int4[]",
    "timestamptz[]",
    "uuid[]",
    "int4[]",
    "text[]",
    "text[]",
    "text[]",
    "text[]",
    "text[]",
    "int4[]",
    "uuid[]",
    "bytea[]",
    "text[]",
    "uuid?",
  ],
  { event_id: "uuid", layer: "int4" },
);

const DELETE_INCOMPLETE = sql("select delete_incomplete_features($1, $2)", ["uuid[]", "int4[]"]);

/** The layer of a row, and the id of its event, which determines the rest of the key of the row. */
export type FeatureKey = Pick<NewFeatureRow, "eventId" | "layer">;

/**
 * Stores each row once, without rows of events that were erased or restricted. An erasure or a new policy waits for the
 * end of the transaction.
 * @param options.runId the backfill that computed the rows. @param options.policyVersion the policy that masked their
 * inputs. @param options.replaced rows that lack features because of their time, and are deleted first.
 * @throws Unavailable if there is another policy now. @returns the keys of the rows that it stored.
 */
export async function insertFeatureRows(
  transaction: Transaction,
  computed: readonly NewFeatureRow[],
  {
    runId,
    policyVersion,
    replaced = [],
  }: {
    readonly runId?: string | undefined;
    readonly policyVersion?: number;
    readonly replaced?: readonly FeatureKey[];
  } = {},
): Promise<readonly FeatureKey[]> {
  if (computed.length === 0) return [];
  // Sorted, so that transactions that store the same rows cause no deadlock.
  const rows = computed.toSorted((a, b) => compareText(a.eventId, b.eventId) || a.layer - b.layer);
  await query(transaction, LOCK_INGESTION_SHARED);
  // guard(false): what a new policy masks is not stored under the former one
  if (policyVersion !== undefined && policyVersion !== (await readPolicyVersion(transaction))) {
    throw new Unavailable("a new policy was applied during the computation of features, which begins again");
  }
  if (replaced.length > 0) {
    const events = replaced.map(({ eventId }) => eventId);
    const layers = replaced.map(({ layer }) => layer);
    await query(transaction, DELETE_INCOMPLETE, [events, layers]);
  }
  const inserted = await query(transaction, INSERT_ROWS, [
    textArray(rows.map(({ account }) => account)),
    int4Array(rows.map(({ purpose }) => purpose)),
    timestamptzArray(rows.map(({ receivedAt }) => ({ epochMs: receivedAt }))),
    uuidArray(rows.map(({ eventId }) => eventId)),
    int4Array(rows.map(({ layer }) => layer)),
    textArray(rows.map(({ actionId }) => actionId)),
    textArray(rows.map(({ actionType }) => actionType)),
    textArray(rows.map(({ platform }) => platform)),
    textArray(rows.map(({ sdkVersion }) => sdkVersion)),
    textArray(rows.map(({ appVersion }) => appVersion)),
    int4Array(rows.map(({ schemaVersion }) => schemaVersion)),
    uuidArray(rows.map(({ keyId }) => keyId)),
    byteaArray(rows.map(({ payload }) => payload)),
    textArray(rows.map(({ idempotencyKey }) => idempotencyKey)),
    runId ?? null,
  ]);
  return inserted.rows.map(({ event_id, layer }) => ({ eventId: event_id, layer }));
}

const ATTRIBUTE_COLUMNS = `f.account, f.purpose, ${instant("f.received_at", "received_at")}, f.event_id, f.layer, f.action_id,
  f.action_type, f.platform, f.sdk_version, f.app_version, f.schema_version,
  ${exactInstantOf("f.extracted_at")} as extracted_at, f.key_id, f.hold_id`;
const ATTRIBUTE_TYPES = {
  account: "text",
  purpose: "int4",
  received_at: "text",
  event_id: "uuid",
  layer: "int4",
  action_id: "text",
  action_type: "text",
  platform: "text",
  sdk_version: "text",
  app_version: "text",
  schema_version: "int4",
  extracted_at: "text",
  key_id: "uuid",
  /** The hold that keeps the row as a copy. */
  hold_id: "uuid?",
} as const;

/** A row without its sealed values, for a login that must not read them. */
export type FeatureAttributes = RowOf<typeof ATTRIBUTE_TYPES>;

export const ROW_COLUMNS = `${ATTRIBUTE_COLUMNS}, f.payload`;
export const ROW_TYPES = { ...ATTRIBUTE_TYPES, payload: "bytea" } as const;

export type FeatureRow = RowOf<typeof ROW_TYPES>;

const NEWEST_FIRST = "order by f.received_at desc, f.event_id desc, f.layer";

/** `live_feature` shows the rows that may be read. `unrestricted_feature` shows those of them that may be analysed. */
type FeatureView = "live_feature" | "unrestricted_feature";

/** A search in partitions, and among the copies that holds keep. */
interface Search<Values extends readonly unknown[], Row> {
  readonly inPartitions: PartitionQuery<Values, Row>;
  readonly ofCopies: Statement<Values, Row>;
}

/** Rows of events that were received before this event are found. */
type Before = readonly [receivedAt: string, eventId: string];
const BEFORE = "(f.received_at, f.event_id) < ($3, $4)";
const EVERY_EVENT: Before = ["infinity", "ffffffff-ffff-ffff-ffff-ffffffffffff"];

interface Searches<Row> {
  readonly event: Search<readonly [receivedAt: string, eventId: string], Row>;
  readonly action: Search<readonly [actionId: string, limit: number, ...before: Before], Row>;
  readonly account: Search<readonly [account: string, limit: number, ...before: Before], Row>;
}

const searches = <const Of extends Columns>(view: FeatureView, columns: string, types: Of): Searches<RowOf<Of>> => {
  const search = <const Types extends readonly ParameterType[]>(parameters: Types, where: string) => ({
    inPartitions: partitionQuery(
      parameters,
      types,
      (within) => `select ${columns} from ${view} f where ${within("f", "view")} and ${where}`,
    ),
    ofCopies: sql(`select ${columns} from ${view} f where f.partition_purpose = -1 and ${where}`, parameters, types),
  });
  return {
    event: search(["timestamptz", "uuid"], "f.received_at = $1 and f.event_id = $2 order by f.layer"),
    action: search(["text", "int8", "timestamptz", "uuid"], `f.action_id = $1 and ${BEFORE} ${NEWEST_FIRST} limit $2`),
    account: search(["text", "int8", "timestamptz", "uuid"], `f.account = $1 and ${BEFORE} ${NEWEST_FIRST} limit $2`),
  };
};

const ATTRIBUTES = {
  live_feature: searches("live_feature", ATTRIBUTE_COLUMNS, ATTRIBUTE_TYPES),
  unrestricted_feature: searches("unrestricted_feature", ATTRIBUTE_COLUMNS, ATTRIBUTE_TYPES),
};
const ROWS = searches("live_feature", ROW_COLUMNS, ROW_TYPES);

/** The subject whose feature values are read. */
export type FeatureSubject =
  | { readonly eventId: string; readonly receivedAt: Date }
  | { readonly actionId: string }
  | { readonly account: string };

/**
 * Finds the rows of an event, an action or an account without their values: at least the newest `limit` rows of each
 * purpose, and then the newest `limit` copies that holds keep.
 * @param after an event: only rows of earlier events are found.
 */
export function findFeatureAttributes(
  executor: Executor,
  subject: FeatureSubject,
  limit: number,
  { includeRestricted = false, after }: ReadOptions & { readonly after?: string | undefined } = {},
): Promise<readonly FeatureAttributes[]> {
  // guard(true): only a read that asks for restricted values gets them
  const statements = ATTRIBUTES[includeRestricted ? "live_feature" : "unrestricted_feature"];
  return Array.fromAsync(searchRows(executor, statements, subject, limit, after));
}

/**
 * Reads all rows of an event, an action or an account, restricted ones included: the newest partition first, copies
 * last.
 */
export function allFeatureRows(executor: Executor, subject: FeatureSubject): AsyncIterable<FeatureRow> {
  return searchRows(executor, ROWS, subject, Number.MAX_SAFE_INTEGER);
}

async function* searchRows<Row>(
  executor: Executor,
  statements: Searches<Row>,
  subject: FeatureSubject,
  limit: number,
  after?: string,
): AsyncGenerator<Row & object> {
  if ("eventId" in subject) {
    const at = subject.receivedAt.getTime();
    const partitions = await findFeaturePartitions(executor, { from: at, to: at });
    const values = [subject.receivedAt.toISOString(), subject.eventId] as const;
    yield* queryPartitions(executor, statements.event.inPartitions, partitions, values);
    yield* (await query(executor, statements.event.ofCopies, values)).rows;
    return;
  }
  const statement = "actionId" in subject ? statements.action : statements.account;
  const name = "actionId" in subject ? subject.actionId : subject.account;
  const at = after === undefined ? undefined : receivedAtOf(after);
  const before: Before = after === undefined || !at ? EVERY_EVENT : [at.toISOString(), after];
  const partitions: readonly Partition[] = await findFeaturePartitions(executor, at && { to: at.getTime() });
  // One partition at a time, because the rows of several partitions would not be in order. The partitions of different
  // purposes overlap, so each purpose has its own limit.
  const foundOf = new Map<number, number>();
  for (const partition of partitions) {
    let found = foundOf.get(partition.purpose) ?? 0;
    if (found >= limit) continue;
    for await (const row of queryPartitions(executor, statement.inPartitions, [partition], [name, limit, ...before])) {
      yield row;
      found++;
    }
    foundOf.set(partition.purpose, found);
  }
  yield* (await query(executor, statement.ofCopies, [name, limit, ...before])).rows;
}

const REVEAL = sql(
  "select event_id, layer, payload from reveal_features($1, $2, $3, $4, $5)",
  ["uuid", "text[]", "int4[]", "timestamptz[]", "uuid[]"],
  { event_id: "uuid", layer: "int4", payload: "bytea" },
);
/** Maximum number of events in one statement, which locks their partitions. Each may be in another partition. */
const REVEALED_AT_ONCE = 20;

/**
 * Reads the sealed values of rows. The audit entry must be committed, must have been written by this login less than a
 * minute ago, and must name the events of the rows. Rows that were deleted meanwhile are left out.
 */
export async function revealFeatures(
  executor: Executor,
  entryId: string,
  rows: readonly FeatureAttributes[],
): Promise<readonly FeatureRow[]> {
  const events = [...new Map(rows.map((row) => [row.event_id, row])).values()];
  const payloads = new Map<string, Buffer>();
  for (let at = 0; at < events.length; at += REVEALED_AT_ONCE) {
    const some = events.slice(at, at + REVEALED_AT_ONCE);
    const revealed = await queryRevealed(executor, REVEAL, [
      entryId,
      some.map(({ account }) => account),
      some.map(({ purpose }) => purpose),
      some.map(({ received_at }) => received_at),
      some.map(({ event_id }) => event_id),
    ]);
    for (const { event_id, layer, payload } of revealed.rows) payloads.set(`${event_id} ${layer}`, payload);
  }
  return rows.flatMap((row) => {
    const payload = payloads.get(`${row.event_id} ${row.layer}`);
    return payload ? [{ ...row, payload }] : [];
  });
}

const NAMED = "unnest($1::text[], $2::timestamptz[], $3::uuid[]) n (account, received_at, event_id)";
const IS_NAMED = "f.account = n.account and f.received_at = n.received_at and f.event_id = n.event_id";
const NAMED_TYPES = ["text[]", "timestamptz[]", "uuid[]"] as const;

const ofEvents = <const Of extends Columns>(view: string, columns: string, types: Of) =>
  partitionQuery(
    NAMED_TYPES,
    types,
    (within) => `select ${columns} from ${NAMED} join ${view} f on ${within("f", "view")} and ${IS_NAMED}
      order by f.event_id, f.layer`,
  );
const OF_EVENTS = ofEvents("unrestricted_feature", ROW_COLUMNS, ROW_TYPES);
const STORED_OF_EVENTS = ofEvents("kept_feature", ROW_COLUMNS, ROW_TYPES);

const attributesOf = (view: FeatureView) => ({
  inPartitions: ofEvents(view, ATTRIBUTE_COLUMNS, ATTRIBUTE_TYPES),
  ofCopies: sql(
    `select ${ATTRIBUTE_COLUMNS} from ${NAMED} join ${view} f on f.partition_purpose = -1 and ${IS_NAMED}`,
    NAMED_TYPES,
    ATTRIBUTE_TYPES,
  ),
});
const ATTRIBUTES_OF_EVENTS = {
  live_feature: attributesOf("live_feature"),
  unrestricted_feature: attributesOf("unrestricted_feature"),
};

/** Finds the rows of events, and of copies that holds keep, without their values. */
export async function findAttributesOfEvents(
  executor: Executor,
  events: readonly Pick<FeatureRow, "account" | "received_at" | "event_id">[],
  { includeRestricted = false }: ReadOptions,
): Promise<readonly FeatureAttributes[]> {
  if (events.length === 0) return [];
  // guard(true): only a read that asks for restricted values gets them
  const { inPartitions, ofCopies } = ATTRIBUTES_OF_EVENTS[includeRestricted ? "live_feature" : "unrestricted_feature"];
  const times = events.map(({ received_at }) => Date.parse(received_at));
  const partitions = await findFeaturePartitions(executor, { from: Math.min(...times), to: Math.max(...times) });
  const values = [
    events.map(({ account }) => account),
    events.map(({ received_at }) => received_at),
    events.map(({ event_id }) => event_id),
  ] as const;
  const rows = await Array.fromAsync(queryPartitions(executor, inPartitions, partitions, values));
  return [...rows, ...(await query(executor, ofCopies, values)).rows];
}

/** Finds the rows of events that may be analysed, by the id of the event. */
export async function findRowsOfEvents(
  executor: Executor,
  events: readonly Pick<NewFeatureRow, "account" | "receivedAt" | "eventId">[],
): Promise<ReadonlyMap<string, readonly FeatureRow[]>> {
  const times = events.map(({ receivedAt }) => receivedAt);
  const range = { from: Math.min(...times), to: Math.max(...times) };
  const rowsByEvent = new Map(events.map(({ eventId }): [string, FeatureRow[]] => [eventId, []]));
  if (events.length === 0) return rowsByEvent;
  const rows = queryPartitions(executor, OF_EVENTS, await findFeaturePartitions(executor, range), [
    events.map(({ account }) => account),
    times.map((at) => new Date(at).toISOString()),
    events.map(({ eventId }) => eventId),
  ]);
  for await (const row of rows) rowsByEvent.get(row.event_id)?.push(row);
  return rowsByEvent;
}

/** Finds all rows of events in partitions, in every state, so that they can be copied for a hold. */
export async function findStoredRows(
  executor: Executor,
  events: readonly Pick<FeatureRow, "account" | "received_at" | "event_id">[],
): Promise<readonly FeatureRow[]> {
  if (events.length === 0) return [];
  const times = events.map(({ received_at }) => Date.parse(received_at));
  const partitions = await findFeaturePartitions(executor, { from: Math.min(...times), to: Math.max(...times) });
  const rows = queryPartitions(executor, STORED_OF_EVENTS, partitions, [
    events.map(({ account }) => account),
    events.map(({ received_at }) => received_at),
    events.map(({ event_id }) => event_id),
  ]);
  return Array.fromAsync(rows);
}

/** A range of time of one purpose. */
interface TimeRange {
  readonly purpose: number;
  /** RFC 3339. The range includes `lower_bound` and excludes `upper_bound`. */
  readonly lower_bound: string;
  readonly upper_bound: string;
}

const COUNT_OF_LAYERS = partitionQuery(
  ["int4[]", "timestamptz", "timestamptz", "timestamptz"],
  { layer: "int4", rows: "int8" },
  (within) => `select f.layer, count(*) as rows from live_feature f where ${within("f", "view")} and f.layer = any ($1)
      and f.received_at >= $2 and f.received_at < $3 and f.extracted_at < $4 group by f.layer`,
);

/** Counts the rows of layers, restricted ones included, that were extracted before a time. */
export async function countRowsOfLayers(
  executor: Executor,
  { layers, purpose, lower_bound, upper_bound }: TimeRange & { readonly layers: readonly number[] },
  before: string,
): Promise<ReadonlyMap<number, number>> {
  const times = { from: Date.parse(lower_bound), to: Date.parse(upper_bound) };
  const partitions = await findFeaturePartitions(executor, { purpose, ...times });
  const counted = new Map(layers.map((layer) => [layer, 0]));
  const values = [layers, lower_bound, upper_bound, before] as const;
  for await (const { layer, rows } of queryPartitions(executor, COUNT_OF_LAYERS, partitions, values)) {
    counted.set(layer, (counted.get(layer) ?? 0) + rows);
  }
  return counted;
}

const OF_LAYER = partitionQuery(
  ["int4", "timestamptz", "timestamptz", "timestamptz", "uuid", "int8"],
  ROW_TYPES,
  (within) => `select ${ROW_COLUMNS} from unrestricted_feature f where ${within("f", "view")} and f.layer = $1
      and f.received_at >= $2 and f.received_at < $3 and (f.received_at, f.event_id) > ($4, $5)
    order by f.received_at, f.event_id limit $6`,
);
const PAGE_SIZE = 500;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** Rows of a layer in a range of time, without those of restricted accounts; oldest first in each partition. */
export async function* rowsOfLayer(
  executor: Executor,
  range: TimeRange & { readonly layer: number },
): AsyncGenerator<FeatureRow> {
  const { layer, purpose, lower_bound, upper_bound } = range;
  const times = { from: Date.parse(lower_bound), to: Date.parse(upper_bound) };
  for (const partition of await findFeaturePartitions(executor, { purpose, ...times })) {
    let [at, id, rows] = [lower_bound, FIRST_ID, 0];
    do {
      rows = 0;
      const values = [layer, lower_bound, upper_bound, at, id, PAGE_SIZE] as const;
      for await (const row of queryPartitions(executor, OF_LAYER, [partition], values)) {
        yield row;
        [at, id] = [row.received_at, row.event_id];
        rows++;
      }
    } while (rows === PAGE_SIZE);
  }
}
