-- Deletes events of an erased account key with their idempotency keys, for which the caller has inserted tombstones.
-- The ledger has the full key of every event, so that each statement reads one partition.
create or replace function delete_erased(in_key uuid, in_names text[]) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  erased account_key;
  part event_partition;
  deleted bigint;
  events_deleted bigint := 0;
begin
  select * into erased from account_key where key_id = in_key
    -- guard(true): the serving role deletes events of erased keys only
    and erased_by is not null;
  if not found then
    return;
  end if;
  for part in select p.* from event_partition p where p.dropped_at is null and p.partition_id in (
      select q.partition_id from idempotency_key i join event_partition q
        on q.purpose = i.purpose and q.lower_bound <= i.received_at and i.received_at < q.upper_bound
        where i.account = erased.account and i.key = any (in_names) and i.key_id = in_key) loop
    delete from event e where e.account = erased.account and e.purpose = part.purpose
      and e.received_at >= part.lower_bound and e.received_at < part.upper_bound
      and (e.received_at, e.event_id) in (
        select i.received_at, i.event_id from idempotency_key i
          where i.account = erased.account and i.key = any (in_names) and i.key_id = in_key);
    get diagnostics deleted = row_count;
    events_deleted := events_deleted + deleted;
  end loop;
  -- guard(drop): failures of an erased account are deleted
  delete from extraction_failure x using idempotency_key i where i.account = erased.account and i.key = any (in_names) and i.key_id = in_key and x.event_id = i.event_id;
  delete from idempotency_key i where i.account = erased.account and i.key = any (in_names) and i.key_id = in_key;
  get diagnostics deleted = row_count;
  update erasure set events = events + events_deleted, idempotency_keys = idempotency_keys + deleted
    where sequence = erased.erased_by;
end
$$;
