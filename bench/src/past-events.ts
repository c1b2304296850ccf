/** Fills a database with events of earlier days. SQL writes the rows with arbitrary payloads, which can't be opened. */
import type pg from "pg";
import { partitionSecretName } from "../../packages/server/src/store/crypto/partition-secrets.ts";
import { accountSecretName } from "../../packages/server/src/store/crypto/sealer.ts";
import type { Secrets } from "../../packages/server/src/store/crypto/secrets.ts";

const DAY_MS = 86_400_000;
export const STORED_DAYS = 10;
/** Age of the oldest day, in days. */
const OLDEST_AGE_DAYS = 70;
/** Number of events of the account `account-0`. */
const LARGEST_ACCOUNT_EVENTS = 10_000;
const CONNECTIONS = 16;

interface Target {
  readonly owner: pg.Client;
  readonly secrets: Secrets;
}

/**
 * Creates the secrets that the accounts and partitions of the events should have, because erasure and expiry destroy
 * them.
 */
async function createSecrets({ owner, secrets }: Target): Promise<void> {
  const { rows: keys } = await owner.query<{ key_id: string }>("select key_id from account_key");
  const { rows: partitions } = await owner.query<{ partition_id: string }>("select partition_id from event_partition");
  const names = [
    ...keys.map((row) => accountSecretName(row.key_id)),
    ...partitions.map((row) => partitionSecretName(row.partition_id)),
  ].values();
  const work = async (): Promise<void> => {
    for (const name of names) await secrets.findOrCreate(name);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

/**
 * Fills the partitions of ten days with events of many accounts, actions and types. The account `account-0` has 10,000
 * events. Days that an earlier run filled remain.
 * @param until the time after which the function begins no further day, in milliseconds since the Unix epoch. @returns
 * the number of stored events, also from earlier runs.
 */
export async function fill(target: Target, events: number, until = Number.POSITIVE_INFINITY): Promise<number> {
  const { owner } = target;
  await owner.query(
    "insert into account_identity (account) select 'account-' || i from generate_series(0, 9999) i on conflict do nothing",
  );
  await owner.query(
    `insert into account_key (key_id, account, purpose) select gen_random_uuid(), 'account-' || i, 1
      from generate_series(0, 9999) i where not exists (select from account_key where account = 'account-0')`,
  );
  const { rows } = await owner.query("select from event_partition where table_name like 'bench_%'");
  let days = rows.length;
  for (; days < STORED_DAYS && Date.now() < until; days++) {
    await owner.query("begin");
    await fillDay(owner, days, events / STORED_DAYS);
    await owner.query("commit");
    await owner.query(`analyze bench_${days}`);
  }
  await owner.query("analyze idempotency_key");
  await createSecrets(target);
  return (days * events) / STORED_DAYS;
}

async function fillDay(owner: pg.Client, day: number, events: number): Promise<void> {
  const name = `bench_${day}`;
  const from = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - (OLDEST_AGE_DAYS - day) * DAY_MS);
  const [lower, upper] = [from.toISOString(), new Date(from.getTime() + DAY_MS).toISOString()];
  await owner.query(`create table ${name} (like event including defaults including constraints including storage)`);
  await owner.query(`alter table ${name} set (toast_tuple_target = 8160)`);
  await owner.query(
    `insert into ${name} (account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id,
          action_type, session_id, event_type, sdk_version, platform, app_version, payload, key_id)
        select k.account, 1, at, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008' ||
            lpad(to_hex(i), 15, '0'))::uuid, at, 1, 'key-' || i, 'action-' || (i + 99) % 100 * (i % 100000 / 100 + 1), 'type-' || i % 50, 'session',
          'device_intel_collection', '1.0.' || i % 60, 'android', '', decode(repeat(md5(i::text), 90), 'hex'), k.key_id
        from (select i, date_trunc('milliseconds', $1::timestamptz + (i % $3) * interval '86400 seconds' / $3) as at,
            'account-' || case when i % ($3 * ${STORED_DAYS} / ${LARGEST_ACCOUNT_EVENTS}) = 0 then 0 else 1 + i % 9999 end as account
          from generate_series($2::int, $2::int + $3::int - 1) i) g join account_key k on k.account = g.account`,
    [lower, day * events, events],
  );
  await owner.query(
    `insert into idempotency_key (account, key, event_id, purpose, received_at, request_mac, key_id)
        select account, idempotency_key, event_id, purpose, received_at, decode(md5(idempotency_key), 'hex'), key_id from ${name}`,
  );
  await owner.query(`alter table event attach partition ${name} for values from (1, '${lower}') to (1, '${upper}')`);
  await owner.query(
    `insert into event_partition (purpose, lower_bound, upper_bound, table_name) values (1, '${lower}', '${upper}', '${name}')`,
  );
}
