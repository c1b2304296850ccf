-- Whether a restriction hides the events of the account with this keyed MAC, under this purpose.
create or replace function is_restricted(in_mac bytea, in_purpose integer) returns boolean
language sql stable as $$
  select exists (select 1 from drs.restriction where account_mac = in_mac
    -- guard(true): a restriction that was lifted hides nothing
    and lifted_at is null
    and erased_by is null
    and (purpose is null or purpose = in_purpose))
$$;
