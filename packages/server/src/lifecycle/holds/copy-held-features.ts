/**
 * Copies the feature values of held events. These copies belong to the copy of their event, and are deleted with it.
 */
import type { FeatureSealer } from "../../store/crypto/feature-sealer.ts";
import { isUnreadable } from "../../store/crypto/open-if-readable.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { BEFORE_ALL, type FullKey } from "../../store/events/event-row.ts";
import { type Partition, releasingLocks } from "../../store/events/partition-slices.ts";
import { receivedAtOf } from "../../store/events/read-events.ts";
import { type FeatureRow, findStoredRows, ROW_COLUMNS, ROW_TYPES } from "../../features/feature-rows.ts";
import { areKeysDestroyed } from "../../base/ports.ts";
import type { Executor, Transaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { query, type RowOf, sql } from "../../store/postgres/statement.ts";
import type { ErasedIds, OnUnreadable } from "./copy-held-events.ts";
import { arePermanentlyLost, LOST } from "./permanently-lost.ts";

/** Number of copied events whose feature values are in memory at once. */
const PAGE = 200;

const COPY_TYPES = {
  account: "text",
  purpose: "int4",
  received_at: "text",
  event_id: "uuid",
  hold_id: "uuid",
} as const;
type CopyOfEvent = RowOf<typeof COPY_TYPES>;

/**
 * Composes the SQL for a page of copies `c` of events. `$first` and the next three parameters are the full key after
 * which the page begins. The feature values of these events are read separately, because a join with all partitions
 * would lock each partition.
 */
const copies = (from: string, where: string, first: number): string => `
  select c.account, c.purpose, ${instant("c.received_at", "received_at")}, c.event_id, c.hold_id from ${from}
    where ${where} and is_held(c.account, c.action_id, c.event_id)
      and (c.account, c.purpose, c.received_at, c.event_id) > ($${first}, $${first + 1}, $${first + 2}, $${first + 3})
    order by c.account, c.purpose, c.received_at, c.event_id limit ${PAGE}`;
const AFTER = ["text", "int4", "timestamptz", "uuid"] as const;

const OF_PARTITION = sql(
  copies("held_event c", "c.purpose = $1 and c.received_at >= $2 and c.received_at < $3", 4),
  ["int4", "timestamptz", "timestamptz", ...AFTER],
  COPY_TYPES,
);
const OF_KEYS = sql(
  copies(
    "account_key k join held_event c on c.account = k.account and c.purpose = k.purpose",
    "k.key_id = any ($1::uuid[])",
    2,
  ),
  ["uuid[]", ...AFTER],
  COPY_TYPES,
);
const OF_EVENTS = sql(
  copies(
    "unnest($1::uuid[], $2::timestamptz[]) named (event_id, received_at) cross join held_event c",
    "c.event_id = named.event_id and c.received_at = named.received_at",
    3,
  ),
  ["uuid[]", "timestamptz[]", ...AFTER],
  COPY_TYPES,
);

type NextPage = (after: FullKey) => Promise<{ readonly rows: readonly CopyOfEvent[] }>;

export interface FeatureCopyPorts {
  readonly featureSealer: FeatureSealer;
  readonly secrets: Pick<Secrets, "findDestroyed">;
}

/** Copies the values of held events in a partition that is about to be dropped. @throws keys-destroyed */
export async function copyFeaturesOfPartition(
  executor: Transaction,
  ports: FeatureCopyPorts,
  { purpose, lower_ms, upper_ms }: Partition,
): Promise<void> {
  const [from, to] = [new Date(lower_ms).toISOString(), new Date(upper_ms).toISOString()];
  await copyAll(executor, ports, (after) => query(executor, OF_PARTITION, [purpose, from, to, ...after]));
}

/**
 * Copies the values of held events that an erasure is about to delete. The caller has already copied the events.
 * @param onUnreadable throws if the values must not be erased without a copy.
 */
export async function copyFeaturesOfErasure(
  executor: Transaction,
  copyPorts: FeatureCopyPorts,
  { keys, events }: ErasedIds,
  onUnreadable: OnUnreadable,
): Promise<void> {
  const ports = { ...copyPorts, onUnreadable };
  const times = events.map((id) => receivedAtOf(id).toISOString());
  if (keys.length > 0) {
    const erased = new Set(keys);
    await copyAll(
      executor,
      ports,
      (after) => query(executor, OF_KEYS, [keys, ...after]),
      (row) => erased.has(row.key_id),
    );
  }
  if (events.length > 0)
    await copyAll(executor, ports, (after) => query(executor, OF_EVENTS, [events, times, ...after]));
}

async function copyAll(
  executor: Transaction,
  ports: CopyRowPorts,
  nextPage: NextPage,
  isWanted: (row: FeatureRow) => boolean = () => true,
): Promise<void> {
  for (let after: FullKey = BEFORE_ALL; ;) {
    const { rows: page } = await nextPage(after);
    const holds = new Map(page.map(({ event_id, hold_id }) => [event_id, hold_id]));
    const rows = await findStoredRows(releasingLocks(executor), page);
    const copied = await findCopied(executor, page);
    for (const row of rows) {
      const holdId = holds.get(row.event_id);
      if (holdId === undefined || copied.has(keyOf(row)) || !isWanted(row)) continue;
      await copyRow(executor, ports, row, holdId);
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = [last.account, last.purpose, last.received_at, last.event_id];
  }
}

const keyOf = ({ event_id, layer }: Pick<FeatureRow, "event_id" | "layer">): string => `${event_id} ${layer}`;

const FIND_COPIED = sql(
  `select h.event_id, h.layer from unnest($1::text[], $2::int4[], $3::timestamptz[], $4::uuid[])
      n (account, purpose, received_at, event_id) join held_feature h using (account, purpose, received_at, event_id)`,
  ["text[]", "int4[]", "timestamptz[]", "uuid[]"],
  { event_id: "uuid", layer: "int4" },
);

/** @returns the key (`keyOf`) of each row of feature values of these events that has a copy. */
async function findCopied(executor: Executor, events: readonly CopyOfEvent[]): Promise<ReadonlySet<string>> {
  const { rows } = await query(executor, FIND_COPIED, [
    events.map(({ account }) => account),
    events.map(({ purpose }) => purpose),
    events.map(({ received_at }) => received_at),
    events.map(({ event_id }) => event_id),
  ]);
  return new Set(rows.map(keyOf));
}

const INSERT = sql(
  `insert into held_feature (account, purpose, received_at, event_id, layer, extracted_at, key_id, payload)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
  ["text", "int4", "timestamptz", "uuid", "int4", "timestamptz", "uuid", "bytea"],
);

interface CopyRowPorts extends FeatureCopyPorts {
  readonly onUnreadable?: OnUnreadable;
}

async function copyRow(executor: Executor, ports: CopyRowPorts, row: FeatureRow, holdId: string): Promise<void> {
  const { account, purpose, received_at, event_id, layer, extracted_at, key_id } = row;
  const payload = await sealCopyOf(executor, ports, row, holdId);
  await query(executor, INSERT, [account, purpose, received_at, event_id, layer, extracted_at, key_id, payload]);
}

/**
 * @returns the payload of the copy, which is empty if the values can't be opened. If another copy of the key store may
 * open the values, `onUnreadable` is called first, and throws if an empty copy must not be stored.
 * @throws keys-destroyed if another copy of the key store may open the values and there is no `onUnreadable`.
 */
async function sealCopyOf(
  executor: Executor,
  { featureSealer, secrets, onUnreadable }: CopyRowPorts,
  { account, purpose, received_at, event_id, layer, key_id, hold_id, payload }: FeatureRow,
  holdId: string,
): Promise<Buffer> {
  const identity = { account, purpose, receivedAt: Date.parse(received_at), eventId: event_id, layer };
  try {
    const opened =
      hold_id === null
        ? await featureSealer.open(identity, key_id, payload)
        : await featureSealer.openCopy(identity, hold_id, payload);
    return await featureSealer.sealCopy(identity, holdId, opened);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // guard(true): values that another copy of the key store opens are not replaced by an empty copy
    if (!areKeysDestroyed(error) || (await arePermanentlyLost(executor, secrets, error.detail.secrets))) return LOST;
    if (!onUnreadable) throw error;
    await onUnreadable(event_id, error);
    return LOST;
  }
}

const OF_COPY = sql(
  `select ${ROW_COLUMNS} from kept_feature f where f.partition_purpose = -1 and f.account = $1 and f.purpose = $2
    and f.received_at = $3 and f.event_id = $4`,
  ["text", "int4", "timestamptz", "uuid"],
  ROW_TYPES,
);

/**
 * Reads the values of a held copy before the copy moves to another hold.
 * @returns a function that stores the values again for the other hold. A row that can't be opened keeps only its
 * attributes.
 */
export async function moveFeatures(
  executor: Executor,
  ports: FeatureCopyPorts,
  key: FullKey,
): Promise<(holdId: string) => Promise<void>> {
  const { rows } = await query(executor, OF_COPY, [...key]);
  return async (holdId) => {
    for (const row of rows) await copyRow(executor, ports, row, holdId);
  };
}
