-- Returns the key id that events of an account and purpose are sealed under. If there is none, `in_key` becomes the key
-- id.
create or replace function ensure_account_key(in_account text, in_mac bytea, in_purpose integer, in_key uuid) returns uuid
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  -- Waits for an order about the account's restrictions, before it takes the lock of any row.
  perform pg_advisory_xact_lock_shared(7236524, hashtext(encode(in_mac, 'hex')));
  insert into account_identity (account) values (in_account) on conflict do nothing;
  -- guard(drop): a restriction finds the account from its first event on
  update account_identity set account_mac = in_mac where account = in_account and account_mac is null;
  insert into account_key (key_id, account, purpose, restricted)
    values (in_key, in_account, in_purpose, is_restricted(in_mac, in_purpose))
    on conflict (account, purpose) where erased_by is null and lost_by is null do nothing;
  return (select key_id from account_key
    where account = in_account and purpose = in_purpose and erased_by is null and lost_by is null);
end
$$;
