-- Whether the account key is marked as erased, or its row is deleted.
create or replace function is_account_key_erased(in_key uuid) returns boolean
language sql stable as $$
  select not exists (select 1 from drs.account_key where key_id = in_key and erased_by is null)
$$;
