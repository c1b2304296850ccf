/** Secrets that an older copy of the key store lacks, and what was sealed under them. */
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import {
  findPartitions,
  inLedgerOf,
  PARTITION_COLUMNS,
  PARTITION_TYPES,
  partitionQuery,
  queryPartitions,
} from "../../store/events/partition-slices.ts";
import { accountSecretName, holdSecretName } from "../../store/crypto/sealer.ts";
import { partitionSecretName } from "../../store/crypto/partition-secrets.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";
import { query, sql, type Statement } from "../../store/postgres/statement.ts";
import { HOLD_SECRET } from "../holds/hold-table.ts";

/**
 * Number of newest account keys whose secrets are checked. An older copy of the key store lacks at least the newest
 * secret.
 */
const CHECKED_KEYS = 1_000;

/** SQL for the id of the current secret of a row of `event_partition` or `feature_partition`. */
const PARTITION_SECRET = "coalesce(later_secrets[cardinality(later_secrets)], partition_id)";

const NEWEST_KEYS = sql(
  `select key_id as id from account_key where erased_by is null and lost_by is null
  order by created_at desc limit ${CHECKED_KEYS}`,
  [],
  { id: "uuid" },
);
const HOLDS = sql("select id from needed_hold_secrets() as needed (id)", [], { id: "uuid" });
/**
 * The condition on a partition `p` that may contain readable events or feature values: it has not expired, and it has a
 * secret, which is created before the first row is sealed.
 */
const isNeeded = (retention: "raw" | "derived"): string =>
  `p.dropped_at is null and (p.secret_created or p.later_secrets <> '{}')
  and coalesce(p.upper_bound + (select ${retention}_retention from purpose where code = p.purpose), 'infinity')
    > transaction_time()`;
const PARTITIONS = sql(
  `select ${PARTITION_COLUMNS}, ${PARTITION_SECRET} as id from event_partition p where ${isNeeded("raw")}`,
  [],
  { ...PARTITION_TYPES, id: "uuid" },
);

const FEATURE_PARTITIONS = sql(
  `select ${PARTITION_SECRET} as id from feature_partition p where ${isNeeded("derived")}`,
  [],
  { id: "uuid" },
);

type Names = () => Promise<readonly string[]>;

const secretNamesIn =
  (
    executor: Executor,
    statement: Statement<readonly [], { id: string }>,
    secretNameOf: (id: string) => string,
  ): Names =>
  async () =>
    (await query(executor, statement)).rows.map(({ id }) => secretNameOf(id));

/**
 * Finds the lost secrets of the newest account keys, of the holds, of the partitions of feature values, and of the
 * partitions that contain an event. A secret that was destroyed on purpose is not lost, even if a restored database
 * still names it.
 * @throws Unavailable
 */
export async function findLostSecrets(executor: Executor, secrets: Secrets): Promise<readonly string[]> {
  return [
    ...(await lostOfEach(secrets, outsideEventPartitions(executor))),
    ...(await lostPartitions(executor, secrets)),
  ];
}

/**
 * Finds lost secrets without a search for events. Of the secrets of event partitions, it checks only the ones that this
 * process has used.
 * @throws Unavailable
 */
export async function lostInUse(executor: Executor, secrets: Secrets): Promise<readonly string[]> {
  const partitions = async (): Promise<readonly string[]> => {
    const needed = new Set(await secretNamesIn(executor, PARTITIONS, partitionSecretName)());
    return secrets.used.filter((name) => needed.has(name));
  };
  return lostOfEach(secrets, [...outsideEventPartitions(executor), partitions]);
}

/** Names of the secrets of holds that the key store has lost. @throws Unavailable */
export const lostOfHolds = (executor: Executor, secrets: Secrets): Promise<readonly string[]> =>
  lostOf(secrets, secretNamesIn(executor, HOLDS, holdSecretName));

/** Queries for the names of all secrets that are checked, except those of event partitions. */
const outsideEventPartitions = (executor: Executor): Names[] => [
  secretNamesIn(executor, NEWEST_KEYS, accountSecretName),
  // guard(drop): a key store without the secret of a hold is older
  secretNamesIn(executor, HOLDS, holdSecretName),
  // guard(drop): a key store without the secret of feature values is older
  secretNamesIn(executor, FEATURE_PARTITIONS, partitionSecretName),
];

async function lostOfEach(secrets: Secrets, needed: readonly Names[]): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const names of needed) lost.push(...(await lostOf(secrets, names)));
  return lost;
}

async function lostOf(secrets: Secrets, names: Names): Promise<readonly string[]> {
  const lost = await secrets.findLost(await names());
  // guard(true): a key store that is older than the events is refused
  if (lost.length === 0) return [];
  // If its loss was accepted in the meantime, the secret is not needed any more.
  const needed = new Set(await names());
  return lost.filter((name) => needed.has(name));
}

const FIND_USED_SECRET = partitionQuery(
  [],
  { id: "uuid" },
  (within, { partition_id }) => `select ${PARTITION_SECRET} as id from event_partition p
      where p.partition_id = '${partition_id}' and ${isNeeded("raw")} and exists (select 1 from event e where ${within("e")})`,
);

/**
 * Finds the lost secrets of partitions that contain an event. Searches for events only in partitions whose secrets are
 * lost.
 */
async function lostPartitions(executor: Executor, secrets: Secrets): Promise<readonly string[]> {
  const { rows } = await query(executor, PARTITIONS);
  const lost = new Set(await secrets.findLost(rows.map(({ id }) => partitionSecretName(id))));
  const lacking = rows.filter(({ id }) => lost.has(partitionSecretName(id)));
  const used = await Array.fromAsync(queryPartitions(executor, FIND_USED_SECRET, lacking, []));
  return used.map(({ id }) => partitionSecretName(id)).filter((name) => lost.has(name));
}

/** Maximum number of account keys that one query returns when all of them are searched. */
const KEYS_PAGE = 5_000;
/**
 * Maximum difference between the clocks of a server and of the database. A server whose clock is ahead may store events
 * in a partition this long before the partition starts.
 */
const CLOCK_DIFFERENCE = "interval '5 minutes'";

/** The ids of all rows that need a secret which the key store lacks. */
export interface Loss {
  readonly keys: readonly string[];
  /** Partitions that contain an event, or that had a secret and may still receive events. */
  readonly partitions: readonly string[];
  /** Active holds, and lifted ones with copies. */
  readonly holds: readonly string[];
  /** Partitions of feature values that had a secret. */
  readonly features: readonly string[];
  /** Names of the secrets of the rows above. */
  readonly names: readonly string[];
  readonly counts: LossCounts;
}

export interface LossCounts {
  /** Number of events that can't be opened, and number of accounts that have such events. */
  readonly events: number;
  readonly accounts: number;
  /** Number of partitions in which no event can be opened. */
  readonly partitions: number;
  /** Number of copies of held events that can't be opened. */
  readonly copies: number;
}

/**
 * Finds all lost secrets, including old ones.
 * @param destroyed names of secrets that were destroyed for entries which the database lacks. They are not lost.
 * @throws Unavailable
 */
export async function findLoss(
  executor: Executor,
  secrets: Secrets,
  destroyed: ReadonlySet<string> = new Set(),
): Promise<Loss> {
  const notDestroyed = (names: readonly string[]): readonly string[] => names.filter((name) => !destroyed.has(name));
  const findLost: FindLost = async (names) => notDestroyed(await secrets.findLost(names));
  // An account whose erasure the journal has lost needs another key, although the secret was destroyed on purpose.
  const keys = await lackingKeys(executor, async (names) => notDestroyed(await secrets.findMissing(names)));
  const holds = await lackingIds(executor, findLost, HOLDS_IN_USE, holdSecretName);
  const partitions = await lackingIds(executor, findLost, STARTED_PARTITIONS, partitionSecretName);
  const features = await lackingIds(executor, findLost, STARTED_FEATURE_PARTITIONS, partitionSecretName);
  const found = await countLost(executor, keys, new Set(partitions.map(({ id }) => id)));
  const isNeeded = ({ id, isOpen }: Needed): boolean => isOpen || found.partitions.has(id);
  const lostPartitions = partitions.filter(isNeeded);
  return {
    keys: keys.map(({ id }) => id),
    partitions: lostPartitions.map(({ id }) => id),
    holds: holds.map(({ id }) => id),
    features: features.map(({ id }) => id),
    names: [...keys, ...lostPartitions, ...holds, ...features].map(({ name }) => name),
    counts: {
      events: found.events,
      accounts: found.accounts.size,
      partitions: found.partitions.size,
      copies: await countCopies(executor, holds),
    },
  };
}

const HOLDS_IN_USE = sql(
  `select hold_id as id, ${HOLD_SECRET} as secret, true as "isOpen" from legal_hold h
  where secret_destroyed_at is null and (lifted_at is null
    or exists (select 1 from held_event c where c.hold_id = h.hold_id and octet_length(c.payload) > 0))`,
  [],
  { id: "uuid", secret: "uuid", isOpen: "bool" },
);
const STARTED_PARTITIONS = sql(
  `select partition_id as id, ${PARTITION_SECRET} as secret,
    upper_bound > transaction_time() - ${CLOCK_DIFFERENCE} and (secret_created or later_secrets <> '{}') as "isOpen"
  from event_partition where dropped_at is null and lower_bound < transaction_time() + ${CLOCK_DIFFERENCE}`,
  [],
  { id: "uuid", secret: "uuid", isOpen: "bool" },
);
const STARTED_FEATURE_PARTITIONS = sql(
  `select partition_id as id, ${PARTITION_SECRET} as secret, true as "isOpen" from feature_partition
    where dropped_at is null and (secret_created or later_secrets <> '{}')`,
  [],
  { id: "uuid", secret: "uuid", isOpen: "bool" },
);
const KEYS = sql(
  `select key_id as id, key_id as secret, true as "isOpen", account, purpose, created_at from account_key
  where erased_by is null and lost_by is null and key_id > $1 order by key_id limit ${KEYS_PAGE}`,
  ["uuid"],
  { id: "uuid", secret: "uuid", isOpen: "bool", account: "text", purpose: "int4", created_at: "timestamptz" },
);
const MIN_ID = "00000000-0000-0000-0000-000000000000";

interface Needed {
  readonly id: string;
  readonly name: string;
  /** Whether new events may be sealed under the secret. */
  readonly isOpen: boolean;
}

interface NeededRow extends Omit<Needed, "name"> {
  readonly secret: string;
}

interface KeyRow extends NeededRow {
  readonly account: string;
  readonly purpose: number;
  readonly created_at: string;
}

/** @returns the names of lost secrets. */
type FindLost = (names: readonly string[]) => Promise<readonly string[]>;

async function lackingKeys(executor: Executor, findLost: FindLost): Promise<readonly (KeyRow & Needed)[]> {
  const found: (KeyRow & Needed)[] = [];
  for (let last = MIN_ID; ;) {
    const { rows } = await query(executor, KEYS, [last]);
    found.push(...(await lackingOf(findLost, rows, accountSecretName)));
    if (rows.length < KEYS_PAGE) return found;
    last = rows.at(-1)?.id ?? last;
  }
}

async function lackingIds(
  executor: Executor,
  findLost: FindLost,
  statement: Statement<readonly [], NeededRow>,
  secretNameOf: (id: string) => string,
): Promise<readonly Needed[]> {
  return lackingOf(findLost, (await query(executor, statement)).rows, secretNameOf);
}

async function lackingOf<Row extends NeededRow>(
  findLost: FindLost,
  rows: readonly Row[],
  secretNameOf: (id: string) => string,
): Promise<readonly (Row & Needed)[]> {
  const named = rows.map((row) => ({ ...row, name: secretNameOf(row.secret) }));
  const lacking = new Set(await findLost(named.map(({ name }) => name)));
  return named.filter(({ name }) => lacking.has(name));
}

interface FoundEvents {
  events: number;
  readonly accounts: Set<string>;
  readonly partitions: Set<string>;
}

const COUNTED = "e.account, count(*) as events from event e";
const COUNT_OF_PARTITIONS = partitionQuery(
  [],
  { partition: "text", account: "text", events: "int8" },
  (within, { partition_id }) =>
    `select '${partition_id}' as partition, ${COUNTED} where ${within("e")} group by e.account`,
);
const COUNT_OF_KEYS = partitionQuery(
  ["text[]", "int4[]", "uuid[]"],
  { account: "text", events: "int8" },
  (within) => `select ${COUNTED} join idempotency_key i on e.received_at = i.received_at and e.event_id = i.event_id
      join unnest($1::text[], $2::int4[], $3::uuid[]) lost (account, purpose, key_id)
        on i.account = lost.account and e.purpose = lost.purpose and e.key_id = lost.key_id
      where ${within("e")} and ${within("i")} group by e.account`,
);

/**
 * Counts all events of the partitions whose secret is lost, and in all other partitions the events under lost account
 * keys.
 */
async function countLost(executor: Executor, keys: readonly KeyRow[], lost: ReadonlySet<string>): Promise<FoundEvents> {
  const found: FoundEvents = { events: 0, accounts: new Set(), partitions: new Set() };
  const partitions = await findPartitions(executor);
  const since = Math.min(...keys.map(({ created_at }) => Date.parse(created_at)));
  const lostPartitions = partitions.filter(({ partition_id }) => lost.has(partition_id));
  const whole = queryPartitions(executor, COUNT_OF_PARTITIONS, lostPartitions, []);
  for await (const { partition, account, events } of whole) {
    found.events += events;
    found.accounts.add(account);
    found.partitions.add(partition);
  }
  if (keys.length === 0) return found;
  const single = queryPartitions(
    executor,
    COUNT_OF_KEYS,
    partitions.filter(({ partition_id, upper_ms }) => !lost.has(partition_id) && upper_ms > since),
    [keys.map(({ account }) => account), keys.map(({ purpose }) => purpose), keys.map(({ id }) => id)],
  );
  for await (const { account, events } of single) {
    found.events += events;
    found.accounts.add(account);
  }
  return found;
}

const COUNT_COPIES = sql(
  "select count(*) as copies from held_event where hold_id = any ($1::uuid[]) and octet_length(payload) > 0",
  ["uuid[]"],
  { copies: "int8" },
);

async function countCopies(executor: Executor, holds: readonly Needed[]): Promise<number> {
  const { rows } = await query(executor, COUNT_COPIES, [holds.map(({ id }) => id)]);
  return rows[0]?.copies ?? 0;
}

interface Count {
  readonly events: number;
  /** The times at which the first and the last of these events were received; `null` if there are none. */
  readonly first: string | null;
  readonly last: string | null;
}

export interface SealedUnder extends Count {
  readonly name: string;
}

const COUNT = `select count(*) as events, ${instant("min(received_at)", "first")}, ${instant("max(received_at)", "last")}`;

/** Counts the events or held copies that can't be opened without this secret. Searches partitions in slices. */
export async function sealedUnder(executor: Executor, secretName: string): Promise<SealedUnder> {
  const [kind, id = ""] = secretName.split("/");
  let total: Count = { events: 0, first: null, last: null };
  for await (const count of countsOf(executor, kind, id)) total = add(total, count);
  return { name: secretName, ...total };
}

const COUNT_TYPES = { events: "int8", first: "text?", last: "text?" } as const;
const COUNT_OF_PARTITION = partitionQuery([], COUNT_TYPES, (within) => `${COUNT} from event e where ${within("e")}`);
const COUNT_OF_KEY = partitionQuery(
  ["text", "uuid"],
  COUNT_TYPES,
  (within) => `${COUNT} from event e where ${within("e")} and ${inLedgerOf("$1", within, "e")} and key_id = $2`,
);
const COUNT_COPIES_OF_HOLD = sql(
  `${COUNT} from held_event where hold_id = (select hold_id from legal_hold where $1::uuid = any (hold_id || later_secrets))`,
  ["uuid"],
  COUNT_TYPES,
);

const FIND_PARTITION_OF_SECRET = sql(
  `select ${PARTITION_COLUMNS} from event_partition p where $1::uuid = any (p.partition_id || p.later_secrets)`,
  ["uuid"],
  PARTITION_TYPES,
);

const FIND_KEY = sql("select account, purpose from account_key where key_id = $1", ["uuid"], {
  account: "text",
  purpose: "int4",
});

async function* countsOf(executor: Executor, kind: string | undefined, id: string): AsyncGenerator<Count> {
  if (kind === "hold") {
    yield* (await query(executor, COUNT_COPIES_OF_HOLD, [id])).rows;
  } else if (kind === "partition") {
    const { rows } = await query(executor, FIND_PARTITION_OF_SECRET, [id]);
    yield* queryPartitions(executor, COUNT_OF_PARTITION, rows, []);
  } else {
    const [key] = (await query(executor, FIND_KEY, [id])).rows;
    if (!key) return;
    yield* queryPartitions(executor, COUNT_OF_KEY, await findPartitions(executor, key), [key.account, id]);
  }
}

/** Adds two counts. All times have the same format, so that they can be compared as text. */
function add(one: Count, other: Count): Count {
  const times = [one.first, one.last, other.first, other.last].filter((time) => time !== null).toSorted();
  return { events: one.events + other.events, first: times[0] ?? null, last: times.at(-1) ?? null };
}
