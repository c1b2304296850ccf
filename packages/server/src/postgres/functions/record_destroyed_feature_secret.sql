-- Records that the secret of a dropped partition of feature values is destroyed, if it ever had one.
create or replace function record_destroyed_feature_secret(in_partition uuid, in_existed boolean) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update feature_partition set secret_destroyed_at = transaction_time()
    where partition_id = in_partition and dropped_at is not null and secret_destroyed_at is null;
  if found and in_existed then
    insert into retention_effect (secret_of) values (in_partition);
  end if;
end
$$;
