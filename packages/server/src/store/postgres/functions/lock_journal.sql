-- Lets one transaction at a time append to the journal, so that its entries are numbered without a gap.
create or replace function lock_journal() returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236521);
end
$$;
