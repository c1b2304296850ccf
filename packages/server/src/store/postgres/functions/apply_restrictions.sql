-- Sets `restricted` of the keys of an account as its restrictions say. `in_account` is the name of the account, if the
-- caller knows it.
create or replace function apply_restrictions(in_mac bytea, in_account text) returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  -- guard(drop): a key that is created during a change of restrictions gets the restriction
  perform pg_advisory_xact_lock(7236524, hashtext(encode(in_mac, 'hex')));
  update drs.account_identity set account_mac = in_mac where account = in_account and account_mac is null;
  update drs.account_key k set restricted = not k.restricted from drs.account_identity i
    where i.account_mac = in_mac and k.account = i.account and k.restricted <> drs.is_restricted(in_mac, k.purpose);
end
$$;
