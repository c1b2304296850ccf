-- Statements on `event` name one purpose and a range of time by constants: PostgreSQL then plans and locks the partitions
-- of that range, and no others. Functions run custom plans, because a generic plan locks every partition.

-- Asked for by `partition_purpose`, it leaves out the copies, or, where that is -1, every partition of `event`.
create or replace view kept_event as
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, key_id, null::uuid as hold_id,
      null::bigint as erased_by, purpose as partition_purpose from event
  union all
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, null::uuid, hold_id, erased_by, -1
    from held_event;

-- The events that may be read: not erased, and within the period (by the database's clock) or under a hold. It holds for
-- every read, from that moment; when the row itself is deleted does not matter.
create view live_event as
  select e.* from kept_event e
    where (e.hold_id is not null or (select k.erased_by is null from account_key k where k.key_id = e.key_id))
      and ((e.erased_by is null
          and coalesce(e.received_at + (select p.raw_retention from purpose p where p.code = e.purpose), 'infinity') > now())
        or exists (select from legal_hold h where h.lifted_at is null and h.account = e.account)
        or exists (select from legal_hold h where h.lifted_at is null and h.action_id = e.action_id)
        or exists (select from legal_hold h where h.lifted_at is null and h.event_id = e.event_id));

-- The same for analysts: no function of a query sees a row that the rule leaves out.
create view readable_event with (security_barrier) as
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload from live_event;

grant select on live_event to drs_service;

-- How long partitions are: at most some 200 of a purpose at once for periods of up to 16 years, 12 a year beyond.
create function partition_unit(in_period interval) returns text language sql immutable as $$
  select case when in_period < interval '7 days' then 'hour' when in_period <= interval '200 days' then 'day'
    when in_period <= interval '4 years' then 'week' else 'month' end
$$;

-- Partitions of a time that another unit covers already are shorter: hours always fit.
create or replace function ensure_event_partition(in_purpose integer, in_at timestamptz) returns setof event_partition
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  found_row event_partition;
  units constant text[] := array['month', 'week', 'day', 'hour'];
  unit text;
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
      foreach unit in array units[array_position(units,
          partition_unit((select raw_retention from purpose where code = in_purpose))):] loop
        lower_at := date_trunc(unit, in_at);
        upper_at := lower_at + ('1 ' || unit)::interval;
        exit when not exists (select from event_partition p
          where p.purpose = in_purpose and p.lower_bound < upper_at and lower_at < p.upper_bound);
      end loop;
      name := format('event_p%s_%s', in_purpose, to_char(lower_at,
        case unit when 'month' then 'YYYYMM' when 'week' then 'IYYY"w"IW' when 'day' then 'YYYYMMDD' else 'YYYYMMDDHH24' end));
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

-- Partitions that hold expired events and are not to be dropped soon, because they are longer than today's period asks
-- for: their rows are deleted one by one.
create view partly_expired_partition as
  select p.partition_id, p.purpose, p.lower_bound, p.upper_bound, u.raw_retention
    from event_partition p join purpose u on u.code = p.purpose
    where p.dropped_at is null and p.lower_bound + u.raw_retention <= now()
      and (u.raw_retention < interval '1 day'
        or p.upper_bound - p.lower_bound > case partition_unit(u.raw_retention)
          when 'hour' then interval '1 hour' when 'day' then interval '1 day' when 'week' then interval '7 days'
          else interval '31 days' end);
grant select on partly_expired_partition to drs_service;

alter function drop_expired_partition(uuid) set plan_cache_mode = force_custom_plan;

-- Deletes expired events of such a partition, at most so many.
drop function delete_expired_events(integer, integer);
create function delete_expired_events(in_partition uuid, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  part partly_expired_partition;
  deleted bigint;
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
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- Deletes events of an erased key and their ledger rows, which are tombstones by then. The ledger has the full key of
-- every event, so that one partition at a time is looked into.
drop function delete_erased_keys(uuid, text[]);
drop function delete_erased_events(uuid, integer);
create function delete_erased(in_key uuid, in_names text[]) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  erased account_key;
  part event_partition;
  deleted bigint;
  events_deleted bigint := 0;
begin
  select * into erased from account_key where key_id = in_key and erased_by is not null;
  if not found then
    return;
  end if;
  for part in select p.* from event_partition p where p.dropped_at is null and p.partition_id in (
      select q.partition_id from idempotency_key i join event_partition q
        on q.purpose = i.purpose and q.lower_bound <= i.received_at and i.received_at < q.upper_bound
        where i.account = erased.account and i.key = any (in_names) and i.key_id = in_key) loop
    delete from event e where e.account = erased.account and e.purpose = part.purpose
      and e.received_at >= part.lower_bound and e.received_at < part.upper_bound
      and (e.received_at, e.event_id) in (
        select i.received_at, i.event_id from idempotency_key i
          where i.account = erased.account and i.key = any (in_names) and i.key_id = in_key);
    get diagnostics deleted = row_count;
    events_deleted := events_deleted + deleted;
  end loop;
  delete from idempotency_key i where i.account = erased.account and i.key = any (in_names) and i.key_id = in_key;
  get diagnostics deleted = row_count;
  update erasure set events = events + events_deleted, idempotency_keys = idempotency_keys + deleted
    where sequence = erased.erased_by;
end
$$;

-- An erased key without a ledger row has no event either: both are deleted together.
create or replace function forget_account_key(in_key uuid) returns void
language sql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
  delete from account_key k where k.key_id = in_key and k.erased_by is not null
    and not exists (select from idempotency_key i where i.account = k.account and i.key_id = k.key_id)
$$;

revoke all on function partition_unit(interval), delete_expired_events(uuid, integer), delete_erased(uuid, text[])
  from public;
grant execute on function partition_unit(interval), delete_expired_events(uuid, integer), delete_erased(uuid, text[])
  to drs_service;
