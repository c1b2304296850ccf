-- Adds the secret of a partition or hold to the effects, before it is destroyed: a partition that never held an event
-- has none. A receipt names it once the destruction is recorded.
create or replace function record_secret_to_destroy(in_secret_of uuid) returns void
language sql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
  insert into retention_effect (secret_of)
    select in_secret_of where not exists (select from retention_effect where secret_of = in_secret_of)
$$;
