-- The number of payloads that `replay_payload` was asked for in this hour, over all servers.
create or replace function count_replayed_payloads() returns bigint
language sql volatile security definer
set search_path = drs, pg_temp as $$
  select case when last_value / 1000000000 = floor(extract(epoch from wall_clock_time()) / 3600)
    then last_value % 1000000000 else 0 end from replayed_payload
$$;
