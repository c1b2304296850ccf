-- Takes every effect that no receipt states yet, for the pass that signs them in this transaction.
create or replace function take_retention_effects() returns setof retention_effect
language sql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
  delete from retention_effect returning *
$$;
