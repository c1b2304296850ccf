-- Drops a partition of feature values whose derived period is over. The caller can drop no other.
create or replace function drop_expired_feature_partition(in_partition uuid) returns setof feature_partition
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  found_row feature_partition;
  total bigint;
begin
  select p.* into found_row from feature_partition p join purpose u on u.code = p.purpose
    where p.partition_id = in_partition and p.dropped_at is null
      -- guard(true): values are kept for the derived period
      -- fails: packages/server/src/features/feature-store.test.ts › not earlier
      and p.upper_bound + u.derived_retention <= transaction_time()
    for update of p;
  if not found then
    return;
  end if;
  execute format('select count(*) from %I', found_row.table_name) into total;
  execute format('drop table %I', found_row.table_name);
  update feature_partition set dropped_at = transaction_time(), dropped_rows = total
    where partition_id = in_partition returning * into found_row;
  insert into retention_effect (features) values (total);
  return next found_row;
end
$$;
