-- Returns the key id that events of an account and purpose are sealed under; `in_key` becomes it where there is none.
create or replace function ensure_account_key(in_account text, in_purpose integer, in_key uuid) returns uuid
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  insert into account_identity (account) values (in_account) on conflict do nothing;
  insert into account_key (key_id, account, purpose) values (in_key, in_account, in_purpose)
    on conflict (account, purpose) where erased_by is null and lost_by is null do nothing;
  return (select key_id from account_key
    where account = in_account and purpose = in_purpose and erased_by is null and lost_by is null);
end
$$;

revoke all on function ensure_account_key(text, integer, uuid) from public;
grant execute on function ensure_account_key(text, integer, uuid) to drs_service;
