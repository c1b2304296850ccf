-- Whether the account key is erased or deleted.
create or replace function is_erased(in_key uuid) returns boolean
language sql stable as $$
  select not exists (select from drs.account_key where key_id = in_key and erased_by is null)
$$;

revoke all on function is_erased(uuid) from public;
grant execute on function is_erased(uuid) to drs_service;
