-- Makes transactions that place holds and transactions that delete events exclude each other until their end.
create or replace function lock_holds() returns void
language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236519);
end
$$;
