-- Records that the first secret of a partition was created, before anything is sealed under it.
create or replace function record_created_secret(in_partition uuid) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update event_partition set secret_created = true where partition_id = in_partition and not secret_created;
end
$$;
