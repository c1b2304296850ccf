-- A trigger function: sets the columns of an audit entry that its writer can't choose. Each commit batch calls it, and
-- `fill_in` would take longer. So would a search path of its own: names have their schemas instead, because the login
-- chooses the search path.
create or replace function fill_in_entry() returns trigger
language plpgsql as $$
begin
  new.written_at := drs.transaction_time();
  new.xid := pg_catalog.pg_current_xact_id();
  new.login := session_user;
  return new;
end
$$;
