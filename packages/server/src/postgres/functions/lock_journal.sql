-- Entries of the journal are numbered one at a time.
create or replace function lock_journal() returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236521);
end
$$;
