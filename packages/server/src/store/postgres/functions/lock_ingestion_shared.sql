-- Called by each commit batch. A transaction that excludes ingestion, such as an erasure, waits for the batches that
-- have this lock.
create or replace function lock_ingestion_shared() returns void
language sql as $$
  select pg_advisory_xact_lock_shared(7236520)
$$;
