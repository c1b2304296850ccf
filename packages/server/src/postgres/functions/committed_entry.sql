-- Returns the audit entry that allows a login to read what it must not read by itself. The entry must be committed
-- before anything is returned, so that no caller can read something and then roll its entry back.
create or replace function committed_entry(in_entry uuid, in_operations text[])
returns audit_entry
language plpgsql stable
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  entry audit_entry;
begin
  select * into entry from audit_entry a where a.entry_id = in_entry
    -- guard(true): an entry reveals only what its operation opens
    -- fails: packages/server/src/admin/reveal.test.ts › another operation
    and a.operation = any (in_operations)
    -- guard(true): an entry that says that nothing was opened reveals nothing
    -- fails: packages/server/src/admin/reveal.test.ts › a denial
    and a.outcome = 'done'
    -- guard(true): an entry reveals nothing to other logins than the one that wrote it
    -- fails: packages/server/src/admin/reveal.test.ts › another login
    and a.login = session_user
    -- guard(true): an entry reveals nothing before its transaction is committed
    -- fails: packages/server/src/admin/reveal.test.ts › rolled back
    and pg_xact_status(a.xid) = 'committed'
    -- guard(true): an entry reveals nothing after a minute
    -- fails: packages/server/src/admin/reveal.test.ts › a minute
    and a.at > transaction_time() - interval '60 seconds'
    -- guard(true): the writer of an entry chooses its time, and can't prolong the minute
    -- fails: packages/server/src/admin/reveal.test.ts › with a future time
    and a.at <= transaction_time() + interval '5 seconds';
  if not found then
    raise exception 'no committed audit entry of this login allows the read' using errcode = 'insufficient_privilege';
  end if;
  return entry;
end
$$;
