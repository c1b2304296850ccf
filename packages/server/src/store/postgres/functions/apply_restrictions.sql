-- Sets `restricted` of the keys of an account as its restrictions say. `in_account` is the name of the account, if the
-- caller knows it.
create or replace function apply_restrictions(in_mac bytea, in_account text) returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  -- guard(drop): a key that is created during a change of restrictions gets the restriction
  perform pg_advisory_xact_lock(7236524, hashtext(encode(in_mac, 'hex')));
  -- guard(drop): a restriction applies although a login of the database gave the account another MAC
  update drs.account_identity set account_mac = in_mac where account = in_account and account_mac is distinct from in_mac;
  -- guard(drop): a restriction applies to an account whose id an erasure deleted while it got a new key
  insert into drs.account_identity (account, account_mac)
    select in_account, in_mac where exists (select 1 from drs.account_key where account = in_account and erased_by is null)
    on conflict (account) do nothing;
  update drs.account_key k set restricted = not k.restricted from drs.account_identity i
    where i.account_mac = in_mac and k.account = i.account and k.restricted <> exists (
      select 1 from drs.restriction r where r.account_mac = in_mac
        -- guard(true): a restriction that was lifted hides nothing
        and r.lifted_at is null
        and r.erased_by is null
        and (r.purpose is null or r.purpose = k.purpose));
end
$$;
