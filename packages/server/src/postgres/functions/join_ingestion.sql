-- Called by each commit batch: an erasure waits for the batches that have this lock.
create or replace function join_ingestion() returns void
language sql as $$
  select pg_advisory_xact_lock_shared(7236520)
$$;

revoke all on function join_ingestion() from public;
grant execute on function join_ingestion() to drs_service;
