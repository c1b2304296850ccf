-- Deletes an erased account key that no ledger row names. The events of the key were deleted in the same transactions
-- as their ledger rows.
create or replace function delete_account_key(in_key uuid) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  delete from account_key k where k.key_id = in_key
    -- guard(true): the serving role deletes erased account keys only
    and k.erased_by is not null
    and not exists (select 1 from idempotency_key i where i.account = k.account and i.key_id = k.key_id);
end
$$;
