-- Excludes commit batches until the end of the transaction. The erasure of an account, for example, then finds each
-- event that was committed before. Events that are committed later are sealed under another account key.
create or replace function lock_ingestion_exclusive() returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236520);
end
$$;
