-- Adds the destroyed secret of a hold to the effects, in the transaction that recorded the end of the hold.
create or replace function record_hold_secret_effect(in_hold uuid) returns void
language sql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
  insert into retention_effect (secret_of)
    select hold_id from legal_hold where hold_id = in_hold and secret_destroyed_at = transaction_time()
$$;
