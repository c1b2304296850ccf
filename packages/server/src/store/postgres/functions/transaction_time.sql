-- The clock of the schema: the time at which the transaction began. Every statement, view, default and function that
-- records or compares a time reads it here; PostgreSQL replaces a call by its body when it plans. Any role may read the
-- time: views call it with the privileges of the reader.
create or replace function transaction_time() returns timestamptz
language sql stable parallel safe as $$
  select now()
$$;
