-- Deletes and returns every effect that no receipt states yet, for the pass that signs them in this transaction. A
-- secret whose destruction is not recorded is left to the pass that destroys it.
create or replace function take_retention_effects() returns setof retention_effect
language sql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
  delete from retention_effect r
    where secret_of is null
      -- guard(true): a receipt names no secret that may still exist
      or exists (select 1 from event_partition p where p.partition_id = r.secret_of and secret_destroyed_at is not null)
      or exists (select 1 from feature_partition p where p.partition_id = r.secret_of and secret_destroyed_at is not null)
      or exists (select 1 from legal_hold h where h.hold_id = r.secret_of and secret_destroyed_at is not null)
    returning *
$$;
