-- What is past its period is dropped with its partition, whose row stays and says when.
alter table event_partition
  add column dropped_at timestamptz,
  add column dropped_rows bigint,
  add column dropped_bytes bigint,
  -- From then on what a backup holds of it can't be opened, once that of the key store is gone too.
  add column secret_destroyed_at timestamptz,
  -- When the last key of its events was forgotten: the replay window is over.
  add column keys_forgotten_at timestamptz;
create index event_partition_unfinished on event_partition (dropped_at)
  where dropped_at is not null and (secret_destroyed_at is null or keys_forgotten_at is null);

-- Finds the keys of a dropped partition.
create index idempotency_key_received_at on idempotency_key (purpose, received_at);

create table retention_run (
  run_id uuid primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  actor text not null,
  partitions integer not null,
  rows bigint not null,
  bytes bigint not null,
  secrets integer not null,
  keys bigint not null
);
create index retention_run_started_at on retention_run (started_at);
create trigger retention_run_is_immutable before update on retention_run for each row execute function refuse_change();

-- Partitions span a day where the period is a week or longer, otherwise an hour; also where a day would meet another.
create or replace function ensure_event_partition(in_purpose integer, in_at timestamptz) returns setof event_partition
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  found_row event_partition;
  period interval := (select raw_retention from purpose where code = in_purpose);
  unit text := case when period < interval '7 days' then 'hour' else 'day' end;
  lower_at timestamptz;
  upper_at timestamptz;
  name text;
begin
  select * into found_row from event_partition p
    where p.purpose = in_purpose and p.lower_bound <= in_at and in_at < p.upper_bound;
  if not found then
    if in_at not between now() - interval '2 days' and now() + interval '32 days' then
      raise exception 'no partition may be made for %', in_at using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(7236515, in_purpose);
    select * into found_row from event_partition p
      where p.purpose = in_purpose and p.lower_bound <= in_at and in_at < p.upper_bound;
    if not found then
      if unit = 'day' and exists (select from event_partition p where p.purpose = in_purpose
          and p.lower_bound < date_trunc('day', in_at, 'UTC') + interval '1 day'
          and date_trunc('day', in_at, 'UTC') < p.upper_bound) then
        unit := 'hour';
      end if;
      lower_at := date_trunc(unit, in_at, 'UTC');
      upper_at := lower_at + ('1 ' || unit)::interval;
      name := format('event_p%s_%s', in_purpose,
        to_char(lower_at at time zone 'UTC', case unit when 'day' then 'YYYYMMDD' else 'YYYYMMDDHH24' end));
      -- Made apart and attached: that takes no lock which ingestion would have to wait for.
      execute format(
        'create table %I (like event including defaults including constraints including storage)', name);
      execute format('alter table %I set (toast_tuple_target = 8160)', name);
      execute format(
        'alter table event attach partition %I for values from (%L, %L) to (%L, %L)',
        name, in_purpose, lower_at, in_purpose, upper_at);
      insert into event_partition (purpose, lower_bound, upper_bound, table_name)
        values (in_purpose, lower_at, upper_at, name) returning * into found_row;
    end if;
  end if;
  if found_row.dropped_at is not null then
    raise exception 'what was received at % has expired', in_at using errcode = 'invalid_parameter_value';
  end if;
  return next found_row;
end
$$;

-- Drops a partition, but only one whose last event is past its period: whoever calls it can't drop anything else.
create function drop_expired_partition(in_partition uuid) returns setof event_partition
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  found_row event_partition;
  held bigint;
begin
  select p.* into found_row from event_partition p join purpose u on u.code = p.purpose
    where p.partition_id = in_partition and p.dropped_at is null and p.upper_bound + u.raw_retention <= now();
  if not found then
    return;
  end if;
  execute format('select count(*) from %I', found_row.table_name) into held;
  found_row.dropped_bytes := pg_total_relation_size(to_regclass(format('%I', found_row.table_name)));
  execute format('drop table %I', found_row.table_name);
  update event_partition p set dropped_at = now(), dropped_rows = held, dropped_bytes = found_row.dropped_bytes
    where p.partition_id = in_partition returning * into found_row;
  return next found_row;
end
$$;

-- Deletes events that are past their period, at most so many: for periods shorter than a partition is long.
create function delete_expired_events(in_purpose integer, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  deleted bigint;
begin
  delete from event e using (
    select x.account, x.purpose, x.received_at, x.event_id from event x join purpose u on u.code = x.purpose
      where x.purpose = in_purpose and x.received_at + u.raw_retention <= now() limit in_limit) gone
    where e.account = gone.account and e.purpose = gone.purpose and e.received_at = gone.received_at
      and e.event_id = gone.event_id;
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- Marks that the secret of a dropped partition is no more.
create function record_destroyed_secret(in_partition uuid) returns void
language sql security definer set search_path = drs, pg_temp as $$
  update event_partition set secret_destroyed_at = now()
    where partition_id = in_partition and dropped_at is not null and secret_destroyed_at is null
$$;

-- Forgets keys of a dropped partition whose replay window is over, at most so many; marks it when none is left.
create function forget_keys(in_partition uuid, in_window interval, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  found_row event_partition;
  forgotten bigint;
begin
  select * into found_row from event_partition p
    where p.partition_id = in_partition and p.keys_forgotten_at is null and p.dropped_at + in_window <= now();
  if not found then
    return 0;
  end if;
  delete from idempotency_key where ctid = any (array(
    select ctid from idempotency_key k where k.purpose = found_row.purpose
      and k.received_at >= found_row.lower_bound and k.received_at < found_row.upper_bound limit in_limit));
  get diagnostics forgotten = row_count;
  if forgotten < in_limit then
    update event_partition set keys_forgotten_at = now() where partition_id = in_partition;
  end if;
  return forgotten;
end
$$;

revoke all on function drop_expired_partition(uuid), delete_expired_events(integer, integer),
  record_destroyed_secret(uuid), forget_keys(uuid, interval, integer) from public;
grant execute on function drop_expired_partition(uuid), delete_expired_events(integer, integer),
  record_destroyed_secret(uuid), forget_keys(uuid, interval, integer) to drs_service;
grant select, insert on retention_run to drs_service;
