-- The number of payloads that all servers read in this hour by `read_payload_to_compare`, to compare retries whose bytes
-- differ.
create or replace function count_compared_payloads() returns bigint
language sql volatile security definer
set search_path = drs, pg_temp as $$
  select case when last_value / 1000000000 = floor(extract(epoch from wall_clock_time()) / 3600)
    then last_value % 1000000000 else 0 end from compared_payload
$$;
