-- Returns the key ids that events of accounts are sealed under, each under its purpose, in the order of the arrays. If
-- an account has none, its id in `in_keys` becomes the key id. A lock is waited for no longer than `in_wait_ms`
-- milliseconds, if this is not 0. No statement joins the arrays with a table: a plan could read the keys of all accounts.
create or replace function ensure_account_keys(in_accounts text[], in_macs bytea[], in_purposes integer[],
  in_keys uuid[], in_wait_ms integer) returns setof uuid
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  identified bigint;
  place bigint;
begin
  perform set_config('lock_timeout', in_wait_ms::text, true);
  -- The commit of an event that is sealed under a key comes later in the WAL, and makes the key durable with the event.
  perform set_config('synchronous_commit', 'off', true);
  -- Waits for orders about the accounts' restrictions, before it takes the lock of any row.
  perform pg_advisory_xact_lock_shared(7236524, hashtext(encode(mac, 'hex'))) from unnest(in_macs) mac;
  -- In the order of the accounts: calls with the same new accounts do not wait for each other in a circle.
  insert into account_identity (account, account_mac)
    select account, mac from unnest(in_accounts, in_macs) as asked (account, mac) order by account
    on conflict do nothing;
  get diagnostics identified = row_count;
  if identified < cardinality(in_accounts) then
    for place in select asked.place from unnest(in_accounts) with ordinality as asked (account, place) order by account loop
      -- guard(drop): a restriction finds the account from its first event on
      update account_identity set account_mac = in_macs[place] where account = in_accounts[place] and account_mac is null;
      -- guard(false): no account whose MAC another account has gets keys without an id, by which an erasure finds it
      if not exists (select 1 from account_identity where account = in_accounts[place]) then
        raise exception 'another account has this MAC' using errcode = 'unique_violation';
      end if;
    end loop;
  end if;
  insert into account_key (key_id, account, purpose, restricted)
    select key, account, purpose, is_restricted(mac, purpose)
      from unnest(in_accounts, in_macs, in_purposes, in_keys) as asked (account, mac, purpose, key)
      order by account, purpose
    on conflict (account, purpose) where erased_by is null and lost_by is null do nothing;
  return query select (select k.key_id from account_key k
        where k.account = asked.account and k.purpose = asked.purpose and k.erased_by is null and k.lost_by is null)
      from unnest(in_accounts, in_purposes) with ordinality as asked (account, purpose, place)
      order by asked.place;
end
$$;
