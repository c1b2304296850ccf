-- Records that the secret of a dropped partition is destroyed. A partition that never held an event has no secret:
-- `in_existed` says whether one was destroyed.
create or replace function record_destroyed_secret(in_partition uuid, in_existed boolean) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update event_partition set secret_destroyed_at = transaction_time()
    where partition_id = in_partition and dropped_at is not null and secret_destroyed_at is null;
  if found and in_existed then
    insert into retention_effect (secret_of) values (in_partition);
  end if;
end
$$;
