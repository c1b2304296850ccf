import { areKeysDestroyed, type Sealer, type StoredEvent } from "../../base/ports.ts";
import { isUnreadable, type Unreadable } from "../../store/crypto/open-if-readable.ts";
import type { Executor, Transaction } from "../../store/postgres/executor.ts";
import { EVENT_COLUMNS, EVENT_TYPES, type SealedRow, storedEvent } from "../../store/events/event-row.ts";
import {
  type Bind,
  branchesOf,
  type Partition,
  PARTITION_COLUMNS,
  PARTITION_TYPES,
  RECENT_MS,
  releasingLocks,
  SAMPLE_PARTITION,
  slicesOf,
} from "../../store/events/partition-slices.ts";
import { receivedAtOf } from "../../store/events/read-events.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { composed, query, queryComposed, queryRow, sql } from "../../store/postgres/statement.ts";
import { arePermanentlyLost, LOST } from "./permanently-lost.ts";

/** Maximum number of full keys that one statement finds. */
const PAGE = 1_000;

/** The full key of an event that has no copy yet, and a hold that covers the event. */
export interface HeldEvent {
  readonly account: string;
  readonly purpose: number;
  readonly received_at: string;
  readonly event_id: string;
  readonly hold_id: string;
}

/**
 * Yields events to copy. Before the caller requests the next event, the caller must copy the previous one, or add its
 * id to `passedOver`.
 */
export type HeldEventSource = (passedOver: readonly string[]) => AsyncIterable<HeldEvent>;

/** Called with an event that can't be opened. If the function throws, the transaction is rolled back. */
export type OnUnreadable = (eventId: string, reason: Unreadable) => void | Promise<void>;

/**
 * Copies events that a hold covers and that have no copy yet. Each copy is sealed under the secret of a hold. The
 * transaction must have the hold lock. If the secrets of an event were destroyed on purpose, or their loss was
 * accepted, its copy has only the attributes.
 *
 * @param onUnreadable called with an event that can't be opened and is therefore not copied, and with the reason.
 * Without it, the reason is thrown.
 * @returns the number of copies.
 * @throws keys-destroyed, payload-damaged
 */
export async function copyHeldEvents(
  executor: Transaction,
  ports: EventCopyPorts,
  held: HeldEventSource,
  onUnreadable?: OnUnreadable,
): Promise<number> {
  const passedOver: string[] = [];
  const reading = releasingLocks(executor);
  let copies = 0;
  for await (const { hold_id, ...key } of held(passedOver)) {
    const values = [key.account, key.purpose, key.received_at, key.event_id] as const;
    const [row] = (await query(reading, READ, values)).rows;
    const event = row && storedEvent({ ...row, hold_id: null });
    const payload = event && (await sealCopyOf(reading, ports, event, hold_id, onUnreadable));
    if (row && payload !== undefined) {
      await query(executor, INSERT, [...values, ...attributesOf(row), hold_id, payload]);
      copies++;
      continue;
    }
    // The event can't be opened, or it has expired and was deleted, so that only its ledger row remains.
    passedOver.push(key.event_id);
  }
  return copies;
}

export interface EventCopyPorts {
  readonly sealer: Sealer;
  readonly secrets: Pick<Secrets, "findDestroyed">;
}

/**
 * @returns the payload of the copy; `undefined` if the event can't be opened and `onUnreadable` did not throw.
 * @throws as `copyHeldEvents` does
 */
async function sealCopyOf(
  executor: Executor,
  { sealer, secrets }: EventCopyPorts,
  event: StoredEvent,
  holdId: string,
  onUnreadable: OnUnreadable | undefined,
): Promise<Buffer | undefined> {
  try {
    const exact = await sealer.open(event, event.sealedUnder, event.payload);
    return await sealer.sealCopy(event, holdId, exact);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // guard(false): a hold keeps the attributes of what no key store opens any more
    if (areKeysDestroyed(error) && (await arePermanentlyLost(executor, secrets, error.detail.secrets))) return LOST;
    if (!onUnreadable) throw error;
    await onUnreadable(event.eventId, error);
    return undefined;
  }
}

const READ = sql(
  `select ${EVENT_COLUMNS}, payload, key_id from event
  where account = $1 and purpose = $2 and received_at = $3 and event_id = $4`,
  ["text", "int4", "timestamptz", "uuid"],
  { ...EVENT_TYPES, payload: "bytea", key_id: "uuid?" },
);
const INSERT = sql(
  `insert into held_event (account, purpose, received_at, event_id, collected_at, schema_version,
    idempotency_key, action_id, action_type, session_id, event_type, sdk_version, platform, app_version, hold_id, payload)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
  [
    "text",
    "int4",
    "timestamptz",
    "uuid",
    "timestamptz",
    "int4",
    "text",
    "text",
    "text",
    "text",
    "text",
    "text",
    "text",
    "text",
    "uuid",
    "bytea",
  ],
);

const attributesOf = (row: Omit<SealedRow, "hold_id">) =>
  [
    row.collected_at,
    row.schema_version,
    row.idempotency_key,
    row.action_id,
    row.action_type,
    row.session_id,
    row.event_type,
    row.sdk_version,
    row.platform,
    row.app_version,
  ] as const;

const underHold =
  (partition: Partition) =>
  (bind: Bind): string =>
    branchesOf([partition], bind, (within) => `select * from event_under_hold u where ${within("u")}`);

/** Finds the held events of a partition that is about to be dropped. */
export function findHeldOfPartition(executor: Transaction, partition: Partition): HeldEventSource {
  return (passedOver) => pages(executor, [], passedOver, underHold(partition));
}

const HAS_COPIES = sql(
  `select exists (select 1 from held_event where purpose = $1
    and received_at >= to_timestamp($2::float8 / 1000) and received_at < to_timestamp($3::float8 / 1000)) as found`,
  ["int4", "float8", "float8"],
  { found: "bool" },
);

/** Whether there are held copies of events of the purpose and the period of this partition. */
export async function hasCopies(
  executor: Executor,
  { purpose, lower_ms, upper_ms }: Omit<Partition, "partition_id">,
): Promise<boolean> {
  return (await queryRow(executor, HAS_COPIES, [purpose, lower_ms, upper_ms])).found;
}

/** A search for ledger rows `i`, which have the full keys of the events that an erasure is about to delete. */
interface Ledger {
  readonly from: string;
  readonly where: string;
  /** The condition that an event `e` is one of these events. */
  readonly isErasedEvent: string;
  readonly values: readonly unknown[];
}

/** Searches the rows under the account keys that the erasure destroys. */
const ofKeys = (keys: readonly string[]): Ledger => ({
  from: `account_key k join idempotency_key i on i.account = k.account and i.purpose = k.purpose and i.key_id = k.key_id`,
  where: "k.key_id = any ($1::uuid[])",
  isErasedEvent: "e.key_id = any ($1::uuid[])",
  values: [keys],
});

/** Searches the rows of single events. */
const ofEvents = (events: readonly string[]): Ledger => ({
  from: `unnest($1::uuid[], $2::timestamptz[]) erased (event_id, received_at) cross join purpose u
    join idempotency_key i on i.purpose = u.code and i.received_at = erased.received_at and i.event_id = erased.event_id`,
  where: "true",
  isErasedEvent: "(e.received_at, e.event_id) in (select * from unnest($2::timestamptz[], $1::uuid[]))",
  values: [events, events.map((id) => receivedAtOf(id).toISOString())],
});

const RECENT = `i.received_at > transaction_time() - interval '${RECENT_MS} milliseconds'`;

const recentOf = (ledger: Ledger): Ledger => ({ ...ledger, where: `${ledger.where} and ${RECENT}` });

/** What an erasure is about to delete: ids of account keys and of single events. */
export interface ErasedIds {
  readonly keys: readonly string[];
  readonly events: readonly string[];
}

/**
 * @param onlyRecent whether to search only events of the last hour. Only these may have been committed since the
 * transaction began. An earlier call has copied the older ones.
 */
export function findHeldOfErasure(
  executor: Transaction,
  { keys, events }: ErasedIds,
  onlyRecent: boolean,
): HeldEventSource {
  const ledgers = [...(keys.length > 0 ? [ofKeys(keys)] : []), ...(events.length > 0 ? [ofEvents(events)] : [])];
  return async function* find(passedOver) {
    const holds = await activeHolds(executor);
    for (const ledger of ledgers) {
      const ledgerSearch = onlyRecent ? recentOf(ledger) : ledger;
      if (holds.named) yield* pages(executor, ledgerSearch.values, passedOver, () => heldByName(ledgerSearch));
      if (holds.ofActions) yield* heldByAction(executor, ledgerSearch, passedOver);
    }
  };
}

const ACTIVE_HOLDS = sql(
  `select exists (select 1 from legal_hold where lifted_at is null and action_id is null) as named,
    exists (select 1 from legal_hold where lifted_at is null and action_id is not null) as "ofActions"`,
  [],
  { named: "bool", ofActions: "bool" },
);

async function activeHolds(executor: Executor): Promise<{ named: boolean; ofActions: boolean }> {
  const [row] = (await query(executor, ACTIVE_HOLDS)).rows;
  return row ?? { named: false, ofActions: false };
}

/** SQL for the events under holds on accounts and on single events, which the ledger names. */
const heldByName = ({ from, where }: Ledger): string =>
  ["h.account = i.account", "h.event_id = i.event_id and h.event_received_at = i.received_at"]
    .map(
      (covers) => `select h.hold_id, i.account, i.purpose, i.received_at, i.event_id from ${from}
        join legal_hold h on ${covers} where h.lifted_at is null and not is_account_key_erased(i.key_id) and ${where}`,
    )
    .join(" union all ");

/**
 * Yields the events under holds on actions, from the partitions that contain events which the erasure is about to
 * delete.
 */
async function* heldByAction(
  executor: Transaction,
  ledger: Ledger,
  passedOver: readonly string[],
): AsyncIterable<HeldEvent> {
  const { rows } = await queryComposed(executor, FIND_PARTITIONS(ledger));
  for (const slice of slicesOf(rows)) yield* pages(executor, ledger.values, passedOver, heldInSlice(ledger, slice));
}

const heldInSlice =
  ({ isErasedEvent }: Ledger, slice: readonly Partition[]) =>
  (bind: Bind): string =>
    branchesOf(
      slice,
      bind,
      (within) => `select h.hold_id, e.account, e.purpose, e.received_at, e.event_id
          from legal_hold h join event e on e.action_id = h.action_id
          where h.lifted_at is null and ${within("e")} and not is_account_key_erased(e.key_id) and ${isErasedEvent}`,
    );

/** Yields the events without a copy, each with one of the holds that cover it. Reads them in pages. */
async function* pages(
  executor: Transaction,
  values: readonly unknown[],
  passedOver: readonly string[],
  held: (bind: Bind) => string,
): AsyncIterable<HeldEvent> {
  for (;;) {
    const { rows } = await queryComposed(releasingLocks(executor), PAGE_OF(values, passedOver, held));
    yield* rows;
    if (rows.length < PAGE) return;
  }
}

const LEDGERS = [ofKeys([]), ofEvents([])].flatMap((ledger) => [ledger, recentOf(ledger)]);

const FIND_PARTITIONS = composed(
  ({ from, where, values }: Ledger) => ({
    text: `with used as materialized (select distinct i.purpose, date_trunc('minute', i.received_at) as at from ${from} where ${where})
      select ${PARTITION_COLUMNS} from event_partition p
      where p.dropped_at is null and exists (select 1 from used u where u.purpose = p.purpose
        and p.lower_bound <= u.at and u.at < p.upper_bound)`,
    values: [...values],
  }),
  PARTITION_TYPES,
  LEDGERS.map((ledger): [Ledger] => [ledger]),
);

/** A page of events without a copy. */
const PAGE_OF = composed(
  (values: readonly unknown[], passedOver: readonly string[], held: (bind: Bind) => string) => {
    const bound = [...values];
    const bind: Bind = (value) => `$${bound.push(value)}`;
    const text = `select distinct on (account, purpose, received_at, event_id) account, purpose, received_at, event_id, hold_id
      from (${held(bind)}) u
      where event_id <> all (${bind(passedOver)}::uuid[])
        and not exists (select 1 from held_event c where c.account = u.account and c.purpose = u.purpose
          and c.received_at = u.received_at and c.event_id = u.event_id)
      order by account, purpose, received_at, event_id, hold_id limit ${PAGE}`;
    return { text, values: bound };
  },
  { account: "text", purpose: "int4", received_at: "timestamptz", event_id: "uuid", hold_id: "uuid" },
  [
    [[], [], underHold(SAMPLE_PARTITION)],
    ...LEDGERS.flatMap((ledger): [readonly unknown[], readonly string[], (bind: Bind) => string][] => [
      [ledger.values, [], () => heldByName(ledger)],
      [ledger.values, [], heldInSlice(ledger, [SAMPLE_PARTITION])],
    ]),
  ],
);
