-- The clock of the schema: the time at which the transaction began. Every statement, view, default and function that
-- records or compares a time reads it here; PostgreSQL replaces a call by its body when it plans. Any role may read the
-- time: views call it with the privileges of the reader. The body is parsed here: a function of the reader's search path
-- can't take the place of `now`.
create or replace function transaction_time() returns timestamptz
language sql stable parallel safe
return now();
