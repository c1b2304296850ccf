-- Creates the partition of `event` that holds (in_purpose, in_at), if it is not there yet, and returns its row.
-- Security definer: the serving role owns nothing, and may have partitions only of the shape that is decided here.
create function ensure_event_partition(in_purpose integer, in_at timestamptz) returns setof event_partition
language plpgsql security definer set search_path from current as $$
declare
  found_row event_partition;
  lower_at timestamptz := date_trunc('day', in_at, 'UTC');
  upper_at timestamptz := date_trunc('day', in_at, 'UTC') + interval '1 day';
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
      name := format('event_p%s_%s', in_purpose, to_char(lower_at at time zone 'UTC', 'YYYYMMDD'));
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
  return next found_row;
end
$$;
