-- Does for feature values what `ensure_event_partition` does for events. The derived period determines the length of
-- the partition. A backfill may need a partition of any time whose values have not expired.
create or replace function ensure_feature_partition(in_purpose integer, in_at timestamptz) returns setof feature_partition
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  found_row feature_partition;
  units constant text[] := array['month', 'week', 'day', 'hour'];
  unit text;
  lower_at timestamptz;
  upper_at timestamptz;
  name text;
begin
  select * into found_row from feature_partition p
    where p.purpose = in_purpose and p.lower_bound <= in_at and in_at < p.upper_bound;
  if not found then
    if in_at > transaction_time() + interval '32 days' or in_at
        + (select derived_retention from purpose where code = in_purpose) <= transaction_time() then
      raise exception 'no partition may be made for %', in_at using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(7236525, in_purpose);
    select * into found_row from feature_partition p
      where p.purpose = in_purpose and p.lower_bound <= in_at and in_at < p.upper_bound;
    if not found then
      foreach unit in array units[array_position(units,
          partition_unit((select derived_retention from purpose where code = in_purpose))):] loop
        lower_at := date_trunc(unit, in_at);
        upper_at := lower_at + ('1 ' || unit)::interval;
        exit when not exists (select 1 from feature_partition p
          where p.purpose = in_purpose and p.lower_bound < upper_at and lower_at < p.upper_bound);
      end loop;
      name := format('feature_p%s_%s', in_purpose, to_char(lower_at,
        case unit when 'month' then 'YYYYMM' when 'week' then 'IYYY"w"IW' when 'day' then 'YYYYMMDD' else 'YYYYMMDDHH24' end));
      -- The table is made separately and then attached: this takes no lock that ingestion would have to wait for.
      execute format(
        'create table %I (like feature_row including defaults including constraints including storage)', name);
      execute format(
        'alter table feature_row attach partition %I for values from (%L, %L) to (%L, %L)',
        name, in_purpose, lower_at, in_purpose, upper_at);
      insert into feature_partition (purpose, lower_bound, upper_bound, table_name)
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
