-- Returns the payload of the event that an audit entry names, for a login that must not read payloads itself. The entry
-- is durable before anything is returned: a caller that rolls back gets nothing, and so leaves a trace of all it got.
-- The place of the event is given, so that one partition is read.
create or replace function reveal_event(
  in_entry uuid, in_account text, in_purpose integer, in_received_at timestamptz)
returns table (payload bytea, key_id uuid, hold_id uuid)
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  entry audit_entry;
begin
  select * into entry from audit_entry a where a.entry_id = in_entry
    -- guard(true): an entry reveals what it says was opened
    -- fails: packages/server/src/admin/reveal.test.ts › another operation
    and a.operation in ('event.read_raw', 'event.read_observations', 'event.compare')
    -- guard(true): an entry that says that nothing was opened reveals nothing
    -- fails: packages/server/src/admin/reveal.test.ts › a denial
    and a.outcome = 'done'
    -- guard(true): an entry reveals to the login that wrote it
    -- fails: packages/server/src/admin/reveal.test.ts › another login
    and a.login = session_user
    -- guard(true): an entry reveals once its transaction is committed
    -- fails: packages/server/src/admin/reveal.test.ts › rolled back
    and pg_xact_status(a.xid) = 'committed'
    -- guard(true): an entry reveals for a minute
    -- fails: packages/server/src/admin/reveal.test.ts › a minute
    and a.at > transaction_time() - interval '60 seconds'
    -- guard(true): the writer of an entry chooses its time, and can't prolong the minute
    -- fails: packages/server/src/admin/reveal.test.ts › of the future
    and a.at <= transaction_time() + interval '5 seconds';
  if not found then
    raise exception 'no committed audit entry of this login allows the read' using errcode = 'insufficient_privilege';
  end if;
  return query execute format(
    'select e.payload, e.key_id, e.hold_id from unrestricted_event e
      where e.account = %L and e.purpose = %L and e.received_at = %L and e.event_id = %L',
    in_account, in_purpose, in_received_at, entry.event_id);
end
$$;
