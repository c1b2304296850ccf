-- Returns the row of the partition that covers (in_purpose, in_at), and creates the partition if there is none. The new
-- partition covers one month, week, day or hour, chosen by the retention period. If that range overlaps an existing
-- partition, the next shorter unit is tried; an hour always fits. Security definer, because the serving role owns no
-- table and may create partitions of this shape only.
create or replace function ensure_event_partition(in_purpose integer, in_at timestamptz) returns setof event_partition
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
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
    if in_at not between transaction_time() - interval '2 days' and transaction_time() + interval '32 days' then
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
        exit when not exists (select 1 from event_partition p
          where p.purpose = in_purpose and p.lower_bound < upper_at and lower_at < p.upper_bound);
      end loop;
      name := format('event_p%s_%s', in_purpose, to_char(lower_at,
        case unit when 'month' then 'YYYYMM' when 'week' then 'IYYY"w"IW' when 'day' then 'YYYYMMDD' else 'YYYYMMDDHH24' end));
      -- The table is made separately and then attached: this takes no lock that ingestion would have to wait for.
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
  -- guard(false): a time whose partition is dropped has none
  if found_row.dropped_at is not null then
    raise exception 'what was received at % has expired', in_at using errcode = 'invalid_parameter_value';
  end if;
  return next found_row;
end
$$;
