-- Requires READ COMMITTED. Only at this isolation level does the statement after a lock see what was committed before
-- the lock was granted.
create or replace function require_read_committed() returns void
language plpgsql as $$
begin
  -- guard(false): no statement after a lock reads a snapshot from before the lock
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'this needs the isolation level read committed' using errcode = 'invalid_transaction_state';
  end if;
end
$$;
