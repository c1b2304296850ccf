-- Drops a partition of feature values whose derived period is over. The caller can drop no other. While a held event of
-- the same purpose and time has no copy, the function drops nothing and returns no row.
create or replace function drop_expired_feature_partition(in_partition uuid) returns setof feature_partition
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  found_row feature_partition;
  total bigint;
  kept bigint;
begin
  perform lock_holds();
  select p.* into found_row from feature_partition p join purpose u on u.code = p.purpose
    where p.partition_id = in_partition and p.dropped_at is null
      -- guard(true): values are kept for the derived period
      and p.upper_bound + u.derived_retention <= transaction_time()
    for update of p;
  if not found then
    return;
  end if;
  -- The values of held events are copied only after their events, so the partition is kept until the events have
  -- copies.
  if exists (select 1 from event_under_hold u where u.purpose = found_row.purpose
      and u.received_at >= found_row.lower_bound and u.received_at < found_row.upper_bound
      and not exists (select 1 from held_event c where c.account = u.account and c.purpose = u.purpose
        and c.received_at = u.received_at and c.event_id = u.event_id)) then
    return;
  end if;
  -- guard(false): no partition is dropped without copies of the values of held events
  if exists (select 1 from held_event c join feature_row f on f.account = c.account and f.purpose = c.purpose
        and f.received_at = c.received_at and f.event_id = c.event_id
      where f.purpose = found_row.purpose and f.received_at >= found_row.lower_bound
        and f.received_at < found_row.upper_bound and is_held(c.account, c.action_id, c.event_id)
        and not exists (select 1 from held_feature h where h.account = f.account and h.purpose = f.purpose
          and h.received_at = f.received_at and h.event_id = f.event_id and h.layer = f.layer)) then
    raise exception 'the partition has values of held events without a copy' using errcode = 'restrict_violation';
  end if;
  execute format('select count(*) from %I', found_row.table_name) into total;
  execute format('select count(*) from held_feature c join %I f using (account, purpose, received_at, event_id, layer)
    where c.purpose = %L and c.received_at >= %L and c.received_at < %L',
    found_row.table_name, found_row.purpose, found_row.lower_bound, found_row.upper_bound) into kept;
  execute format('drop table %I', found_row.table_name);
  update feature_partition set dropped_at = transaction_time(), dropped_rows = total
    where partition_id = in_partition returning * into found_row;
  insert into retention_effect (features) values (total - kept);
  return next found_row;
end
$$;
