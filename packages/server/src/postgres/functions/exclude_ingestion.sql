-- Excludes commit batches until the end of the transaction: events committed before are erased, events committed later
-- are sealed under another account key.
create or replace function exclude_ingestion() returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236520);
end
$$;

revoke all on function exclude_ingestion() from public;
grant execute on function exclude_ingestion() to drs_service;
