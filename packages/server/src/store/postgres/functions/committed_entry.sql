-- Returns the audit entry that allows a login to read what it must not read by itself. The entry must be committed
-- and durable before anything is returned, so that no caller can read something and then roll its entry back or lose it in
-- a crash.
create or replace function committed_entry(in_entry uuid, in_operations text[])
returns audit_entry
language plpgsql
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  entry audit_entry;
  -- Before the place in the log, so that what the snapshot sees comes before the place. Later records may wait for long
  -- to be flushed: to read a row may write one, if the database has checksums.
  snapshot pg_snapshot := pg_current_snapshot();
  committed pg_lsn := pg_current_wal_insert_lsn();
begin
  select * into entry from audit_entry a where a.entry_id = in_entry
    -- guard(true): an entry reveals only what its operation opens
    and a.operation = any (in_operations)
    -- guard(true): an entry that says that nothing was opened reveals nothing
    and a.outcome = 'done'
    -- guard(true): an entry reveals nothing to other logins than the one that wrote it
    and a.login = session_user
    -- guard(true): an entry reveals nothing before its transaction is committed
    and pg_xact_status(a.xid) = 'committed'
    -- guard(true): an entry is flushed with the place in the log only if it was committed before the place was read
    and pg_visible_in_snapshot(a.xid, snapshot)
    -- guard(true): an entry reveals nothing after a minute
    and a.at > transaction_time() - interval '60 seconds'
    -- guard(true): the writer of an entry chooses its time, and can't prolong the minute
    and a.at <= transaction_time() + interval '5 seconds';
  if not found then
    raise exception 'no committed audit entry of this login allows the read' using errcode = 'insufficient_privilege';
  end if;
  for tried in 1 .. 100 loop
    -- guard(true): a login that turned synchronous_commit off reads nothing whose entry a crash would lose
    if pg_current_wal_flush_lsn() >= committed then
      return entry;
    end if;
    if current_setting('server_version_num')::int >= 170000 then
      -- Flushes the log up to this message.
      perform pg_logical_emit_message(false, 'drs', '', true);
    else
      perform pg_sleep(0.01);
    end if;
  end loop;
  raise exception 'the audit entry that allows the read is not durable yet' using errcode = 'query_canceled';
end
$$;
