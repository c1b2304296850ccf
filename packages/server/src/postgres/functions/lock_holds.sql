-- Placing a hold and deleting events exclude each other until the end of the transaction.
create or replace function lock_holds() returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236519);
end
$$;
