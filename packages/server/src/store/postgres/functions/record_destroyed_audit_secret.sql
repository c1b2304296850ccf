-- Records that the secret of an erased account is destroyed: its audit entries have no readable reason any more.
create or replace function record_destroyed_audit_secret(in_secret uuid) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update audit_secret set destroyed_at = transaction_time()
    where secret_id = in_secret and ended_at is not null and destroyed_at is null;
end
$$;
