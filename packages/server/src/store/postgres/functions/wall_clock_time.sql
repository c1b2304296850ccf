-- The clock of `transaction_time`, read at the moment of the call: for what a transaction does after it has waited for
-- a lock.
create or replace function wall_clock_time() returns timestamptz
language sql volatile parallel safe
return drs.transaction_time() + (clock_timestamp() - now());
