-- Records that the secret of a dropped partition of events or feature values is destroyed.
create or replace function record_destroyed_secret(in_partition uuid) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update event_partition set secret_destroyed_at = transaction_time()
    where partition_id = in_partition and dropped_at is not null and secret_destroyed_at is null;
  update feature_partition set secret_destroyed_at = transaction_time()
    where partition_id = in_partition and dropped_at is not null and secret_destroyed_at is null;
end
$$;
