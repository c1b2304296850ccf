/** Secrets that a key store which went back in time has lost, and what was sealed under them. */
import type { Executor } from "../../postgres/database.ts";
import { instant } from "../../postgres/instant.ts";
import {
  findPartitions,
  type Partition,
  PARTITION_COLUMNS,
  queryPartitions,
  type Within,
} from "../../events/partition-slices.ts";
import { accountSecretName, holdSecretName, partitionSecretName } from "../../crypto/sealer.ts";
import type { Secrets } from "../../crypto/secrets.ts";

/** The newest that are looked for, of each kind. */
const LOOKED_AT = 5;
const KEYS_LOOKED_AT = 1_000;

/** Secrets from before an accepted loss may have been destroyed by the entry that is lost. */
const SINCE_LOSS = "coalesce((select max(loss_accepted_at) from journal_entry), '-infinity')";

const NEWEST_KEYS = `select key_id as id from account_key where erased_by is null and created_at > ${SINCE_LOSS}
  order by created_at desc limit ${KEYS_LOOKED_AT}`;
const NEWEST_HOLDS = `select hold_id as id from legal_hold h
  where placed_at > ${SINCE_LOSS} and secret_destroyed_at is null and exists (select from held_event c
    where c.hold_id = h.hold_id and is_held(c.account, c.action_id, c.event_id)) order by placed_at desc limit ${LOOKED_AT}`;
const PARTITIONS = "select partition_id as id from event_partition where dropped_at is null";

type Names = () => Promise<readonly string[]>;

function namesIn(executor: Executor, query: string, nameOf: (id: string) => string): Names {
  return async () => (await executor.query<{ id: string }>(query)).rows.map(({ id }) => nameOf(id));
}

/** Of partitions that hold an event and whose secrets are needed; newest first, each looked into by itself. */
async function newestPartitions(executor: Executor): Promise<readonly string[]> {
  const found: string[] = [];
  const needed = `p.dropped_at is null and p.lower_bound <= now()
    and coalesce(p.upper_bound + (select raw_retention from purpose where code = p.purpose), 'infinity') > now()`;
  const used = queryPartitions<{ id: string }>(
    executor,
    await findPartitions(executor),
    [],
    (within, { partition_id }) => `select partition_id as id from event_partition p
      where p.partition_id = '${partition_id}' and ${needed} and exists (select from event e where ${within("e")})`,
  );
  for await (const { id } of used) if (found.push(partitionSecretName(id)) === LOOKED_AT) break;
  return found;
}

/**
 * Names of the newest secrets that events are sealed under, and that the key store has lost.
 * @param isDatabaseBehind the key store destroyed secrets of partitions that the database still has: it may lack theirs.
 * @throws Unavailable
 */
export async function lostSince(
  executor: Executor,
  secrets: Secrets,
  isDatabaseBehind: boolean,
): Promise<readonly string[]> {
  const newest: Names = () => newestPartitions(executor);
  // guard(false): a database that is behind lacks no partition secrets
  // fails: e2e/retention.test.ts › a database that is older
  return lostOfEach(secrets, [...keysAndHolds(executor), ...(isDatabaseBehind ? [] : [newest])]);
}

/**
 * The same without a search in partitions: of partition secrets, only those that this process has used.
 * @throws Unavailable
 */
export async function lostInUse(executor: Executor, secrets: Secrets): Promise<readonly string[]> {
  const partitions = async (): Promise<readonly string[]> => {
    const active = new Set(await namesIn(executor, PARTITIONS, partitionSecretName)());
    return secrets.used.filter((name) => active.has(name));
  };
  return lostOfEach(secrets, [...keysAndHolds(executor), partitions]);
}

const keysAndHolds = (executor: Executor): Names[] => [
  namesIn(executor, NEWEST_KEYS, accountSecretName),
  // guard(drop): a key store without the secret of a hold is older
  // fails: e2e/holds.test.ts › lacks a hold's key
  namesIn(executor, NEWEST_HOLDS, holdSecretName),
];

async function lostOfEach(secrets: Secrets, needed: readonly Names[]): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const names of needed) lost.push(...(await lostOf(secrets, names)));
  return lost;
}

async function lostOf(secrets: Secrets, names: Names): Promise<readonly string[]> {
  const lacking = await secrets.lacking(await names());
  // guard(true): a key store that is older than the events is refused
  // fails: e2e/restore.test.ts › a key store that is older
  if (lacking.length === 0) return [];
  // A secret that was erased or dropped meanwhile is not needed any more.
  const needed = new Set(await names());
  return lacking.filter((name) => needed.has(name));
}

interface Count {
  readonly events: number;
  /** When the first and the last of them were received. */
  readonly first: string | null;
  readonly last: string | null;
}

export interface SealedUnder extends Count {
  readonly name: string;
}

const COUNT = `select count(*) as events, ${instant("min(received_at)", "first")}, ${instant("max(received_at)", "last")}`;

/** What can't be opened without this secret; partitions are counted in slices. */
export async function sealedUnder(executor: Executor, name: string): Promise<SealedUnder> {
  const [kind, id = ""] = name.split("/");
  let total: Count = { events: 0, first: null, last: null };
  for await (const count of countsOf(executor, kind, id)) total = add(total, count);
  return { name, ...total };
}

async function* countsOf(executor: Executor, kind: string | undefined, id: string): AsyncGenerator<Count> {
  if (kind === "hold") {
    yield* (await executor.query<Count>(`${COUNT} from held_event where hold_id = $1`, [id])).rows;
  } else if (kind === "partition") {
    const text = `select ${PARTITION_COLUMNS} from event_partition p where p.partition_id = $1`;
    const { rows } = await executor.query<Partition>(text, [id]);
    yield* queryPartitions<Count>(executor, rows, [], (within) => `${COUNT} from event e where ${within("e")}`);
  } else {
    const text = "select account, purpose from account_key where key_id = $1";
    const [key] = (await executor.query<{ account: string; purpose: number }>(text, [id])).rows;
    if (!key) return;
    const branch = (within: Within): string =>
      `${COUNT} from event e where ${within("e")} and account = $1 and key_id = $2`;
    yield* queryPartitions<Count>(executor, await findPartitions(executor, key), [key.account, id], branch);
  }
}

/** Times of one form, which sort as text. */
function add(one: Count, other: Count): Count {
  const times = [one.first, one.last, other.first, other.last].filter((time) => time !== null).toSorted();
  return { events: one.events + other.events, first: times[0] ?? null, last: times.at(-1) ?? null };
}
