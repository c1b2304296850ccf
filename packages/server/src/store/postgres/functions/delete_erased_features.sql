-- Deletes the feature values in one partition that are sealed under an erased account key. Values that a hold keeps a copy
-- of do not count as deleted.
create or replace function delete_erased_features(in_key uuid, in_partition uuid) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  erased account_key;
  part feature_partition;
  deleted bigint;
begin
  select * into erased from account_key where key_id = in_key
    -- guard(true): the serving role deletes values of erased keys only
    and erased_by is not null;
  if not found then
    return;
  end if;
  select * into part from feature_partition p where p.partition_id = in_partition and p.dropped_at is null;
  if not found then
    return;
  end if;
  with removed as (delete from feature_row f where f.account = erased.account and f.purpose = part.purpose
    and f.received_at >= part.lower_bound and f.received_at < part.upper_bound and f.key_id = in_key
    returning f.account, f.purpose, f.received_at, f.event_id, f.layer)
  select count(*) into deleted from removed g where not exists (select 1 from held_feature c where c.account = g.account
    and c.purpose = g.purpose and c.received_at = g.received_at and c.event_id = g.event_id and c.layer = g.layer);
  update erasure set features = features + deleted where sequence = erased.erased_by and deleted > 0;
end
$$;
