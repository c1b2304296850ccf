-- What retention has done, recorded in the transaction that did it. A pass signs what no pass has signed yet, also that of
-- one that was killed, and deletes it here: receipts say what happened, and each thing once.
create table retention_effect (
  effect_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  partitions bigint not null default 0,
  -- Events that are gone: not those that a hold keeps in a copy.
  rows bigint not null default 0,
  bytes bigint not null default 0,
  -- Of the rows, those that were deleted one by one.
  deleted bigint not null default 0,
  -- Events of dropped partitions that a hold keeps in a copy.
  held bigint not null default 0,
  copies bigint not null default 0,
  keys bigint not null default 0,
  -- The partition or hold whose secret is destroyed.
  secret_of uuid
);

create or replace function drop_expired_partition(in_partition uuid) returns setof event_partition
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  found_row event_partition;
  total bigint;
  kept bigint;
begin
  perform lock_holds();
  select p.* into found_row from event_partition p join purpose u on u.code = p.purpose
    where p.partition_id = in_partition and p.dropped_at is null and p.upper_bound + u.raw_retention <= now();
  if not found then
    return;
  end if;
  if exists (select from event_under_hold u where u.purpose = found_row.purpose
      and u.received_at >= found_row.lower_bound and u.received_at < found_row.upper_bound
      and not exists (select from held_event c where c.account = u.account and c.purpose = u.purpose
        and c.received_at = u.received_at and c.event_id = u.event_id)) then
    raise exception 'the partition has held events without a copy' using errcode = 'restrict_violation';
  end if;
  execute format('select count(*) from %I', found_row.table_name) into total;
  execute format('select count(*) from held_event c join %I e using (account, purpose, received_at, event_id)
    where c.purpose = %L and c.received_at >= %L and c.received_at < %L',
    found_row.table_name, found_row.purpose, found_row.lower_bound, found_row.upper_bound) into kept;
  found_row.dropped_bytes := pg_total_relation_size(to_regclass(format('%I', found_row.table_name)));
  execute format('drop table %I', found_row.table_name);
  update event_partition p set dropped_at = now(), dropped_rows = total, dropped_bytes = found_row.dropped_bytes
    where p.partition_id = in_partition returning * into found_row;
  insert into retention_effect (partitions, rows, bytes, held) values (1, total - kept, found_row.dropped_bytes, kept);
  return next found_row;
end
$$;

create or replace function delete_expired_events(in_partition uuid, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  part partly_expired_partition;
  done bigint;
begin
  perform lock_holds();
  select * into part from partly_expired_partition where partition_id = in_partition;
  if not found then
    return 0;
  end if;
  delete from event e where e.purpose = part.purpose
    and e.received_at >= part.lower_bound and e.received_at < part.upper_bound
    and (e.account, e.received_at, e.event_id) in (
      select x.account, x.received_at, x.event_id from event x where x.purpose = part.purpose
        and x.received_at >= part.lower_bound and x.received_at < part.upper_bound
        and x.received_at + part.raw_retention <= now()
        and not is_held(x.account, x.action_id, x.event_id) limit in_limit);
  get diagnostics done = row_count;
  if done > 0 then
    insert into retention_effect (rows, deleted) values (done, done);
  end if;
  return done;
end
$$;

create or replace function delete_released_copies(in_events uuid[]) returns bigint
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  deleted bigint;
begin
  perform lock_holds();
  with gone as (
    delete from held_event c using released_copy r
      where r.event_id = any (in_events) and c.account = r.account and c.purpose = r.purpose
        and c.received_at = r.received_at and c.event_id = r.event_id
      returning c.account, c.purpose, c.received_at, c.event_id, c.idempotency_key),
  forgotten as (
    delete from idempotency_key i using gone g join event_partition p
      on p.purpose = g.purpose and p.lower_bound <= g.received_at and g.received_at < p.upper_bound
      where p.dropped_at is not null and i.account = g.account and i.key = g.idempotency_key and i.event_id = g.event_id)
  select count(*) into deleted from gone;
  if deleted > 0 then
    insert into retention_effect (copies) values (deleted);
  end if;
  return deleted;
end
$$;

create or replace function forget_keys(in_partition uuid, in_window interval, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  found_row event_partition;
  forgotten bigint;
begin
  select * into found_row from event_partition p
    where p.partition_id = in_partition and p.keys_forgotten_at is null and p.dropped_at + in_window <= now();
  if not found then
    return 0;
  end if;
  delete from idempotency_key i where (i.account, i.key) in (
    select k.account, k.key from idempotency_key k where k.purpose = found_row.purpose
      and k.received_at >= found_row.lower_bound and k.received_at < found_row.upper_bound
      and not exists (select from held_event c where c.account = k.account and c.purpose = k.purpose
        and c.received_at = k.received_at and c.event_id = k.event_id) limit in_limit);
  get diagnostics forgotten = row_count;
  if forgotten > 0 then
    insert into retention_effect (keys) values (forgotten);
  end if;
  if forgotten < in_limit then
    update event_partition set keys_forgotten_at = now() where partition_id = in_partition;
  end if;
  return forgotten;
end
$$;

create or replace function forget_tombstones(in_window interval, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  forgotten bigint;
begin
  delete from tombstone where ctid = any (array(
    select ctid from tombstone where made_at + in_window <= now() order by made_at limit in_limit));
  get diagnostics forgotten = row_count;
  if forgotten > 0 then
    insert into retention_effect (keys) values (forgotten);
  end if;
  return forgotten;
end
$$;

-- A partition that never held an event has no secret: `in_existed` says whether one was destroyed.
drop function record_destroyed_secret(uuid);
create function record_destroyed_secret(in_partition uuid, in_existed boolean) returns void
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update event_partition set secret_destroyed_at = now()
    where partition_id = in_partition and dropped_at is not null and secret_destroyed_at is null;
  if found and in_existed then
    insert into retention_effect (secret_of) values (in_partition);
  end if;
end
$$;

-- In the transaction that records the end of the hold.
create function record_hold_secret(in_hold uuid) returns void
language sql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
  insert into retention_effect (secret_of)
    select hold_id from legal_hold where hold_id = in_hold and secret_destroyed_at = now()
$$;

-- Everything that is not signed yet, for the pass that signs it in this transaction.
create function take_retention_effects() returns setof retention_effect
language sql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
  delete from retention_effect returning *
$$;

revoke all on function record_destroyed_secret(uuid, boolean), record_hold_secret(uuid), take_retention_effects()
  from public;
grant execute on function record_destroyed_secret(uuid, boolean), record_hold_secret(uuid), take_retention_effects()
  to drs_service;
