-- Starts the replay window of tombstones again.
create or replace function renew_tombstones(in_name_macs bytea[]) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update tombstone set made_at = transaction_time() where name_mac = any (in_name_macs);
end
$$;
