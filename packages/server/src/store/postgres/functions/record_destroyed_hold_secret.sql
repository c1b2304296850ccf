-- Records that the secret of a lifted hold is destroyed, if no copy needs it.
create or replace function record_destroyed_hold_secret(in_hold uuid) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update legal_hold set secret_destroyed_at = transaction_time()
    where hold_id = in_hold and lifted_at is not null and secret_destroyed_at is null
      -- guard(true): a secret stays while a copy needs it
      and not exists (select 1 from held_event where hold_id = in_hold);
end
$$;
