-- Adds the secret of a dropped partition or of an ended hold to the effects, before the secret is destroyed. The caller
-- calls it only if the secret exists: a partition that never had an event has none. A receipt names the secret only
-- after the destruction is recorded.
create or replace function record_secret_to_destroy(in_secret_of uuid) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  insert into retention_effect (secret_of)
    select in_secret_of where not exists (select 1 from retention_effect where secret_of = in_secret_of)
      -- guard(true): a receipt names no secret again, and none that is in use
      and (exists (select 1 from event_partition p
          where p.partition_id = in_secret_of and dropped_at is not null and secret_destroyed_at is null)
        or exists (select 1 from feature_partition p
          where p.partition_id = in_secret_of and dropped_at is not null and secret_destroyed_at is null)
        or exists (select 1 from legal_hold h
          where h.hold_id = in_secret_of and lifted_at is not null and secret_destroyed_at is null
            and not exists (select 1 from held_event c where c.hold_id = h.hold_id)));
end
$$;
