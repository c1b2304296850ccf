-- Drops a partition whose last event has expired. The caller can drop no other.
create or replace function drop_expired_partition(in_partition uuid) returns setof event_partition
language plpgsql security definer
set search_path = drs, pg_temp
-- guard(drop): days are those of UTC
set timezone = 'UTC'
set plan_cache_mode = force_custom_plan as $$
declare
  found_row event_partition;
  total bigint;
  kept bigint;
begin
  perform lock_holds();
  select p.* into found_row from event_partition p join purpose u on u.code = p.purpose
    where p.partition_id = in_partition and p.dropped_at is null
      -- guard(true): nothing is dropped before its time
      and p.upper_bound + u.raw_retention <= transaction_time();
  if not found then
    return;
  end if;
  -- guard(false): no partition is dropped without copies of held events
  if exists (select 1 from event_under_hold u where u.purpose = found_row.purpose
      and u.received_at >= found_row.lower_bound and u.received_at < found_row.upper_bound
      and not exists (select 1 from held_event c where c.account = u.account and c.purpose = u.purpose
        and c.received_at = u.received_at and c.event_id = u.event_id)) then
    raise exception 'the partition has held events without a copy' using errcode = 'restrict_violation';
  end if;
  execute format('select count(*) from %I', found_row.table_name) into total;
  execute format('select count(*) from held_event c join %I e using (account, purpose, received_at, event_id)
    where c.purpose = %L and c.received_at >= %L and c.received_at < %L',
    found_row.table_name, found_row.purpose, found_row.lower_bound, found_row.upper_bound) into kept;
  found_row.dropped_bytes := pg_total_relation_size(to_regclass(format('%I', found_row.table_name)));
  execute format('drop table %I', found_row.table_name);
  update event_partition p
    set dropped_at = transaction_time(), dropped_rows = total, dropped_bytes = found_row.dropped_bytes
    where p.partition_id = in_partition returning * into found_row;
  -- guard(drop): failures expire with their events
  delete from extraction_failure x where x.purpose = found_row.purpose and x.received_at >= found_row.lower_bound and x.received_at < found_row.upper_bound;
  -- guard(drop): partitions that a killed pass dropped are reported by the next pass
  insert into retention_effect (partitions, rows, bytes, held) values (1, total - kept, found_row.dropped_bytes, kept);
  return next found_row;
end
$$;
