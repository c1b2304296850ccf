-- Deletes copies of events that no hold covers any more. If the partition of an event is dropped, also deletes its
-- idempotency key, for which the caller has inserted a tombstone.
create or replace function delete_released_copies(in_events uuid[]) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  deleted bigint;
begin
  perform lock_holds();
  with deleted_copy as (
    delete from held_event c using released_copy r
      where r.event_id = any (in_events) and c.account = r.account and c.purpose = r.purpose
        and c.received_at = r.received_at and c.event_id = r.event_id
      returning c.account, c.purpose, c.received_at, c.event_id, c.idempotency_key),
  forgotten as (
    delete from idempotency_key i using deleted_copy d join event_partition p
      on p.purpose = d.purpose and p.lower_bound <= d.received_at and d.received_at < p.upper_bound
      where p.dropped_at is not null and i.account = d.account and i.key = d.idempotency_key and i.event_id = d.event_id)
  select count(*) into deleted from deleted_copy;
  if deleted > 0 then
    insert into retention_effect (copies) values (deleted);
  end if;
  return deleted;
end
$$;
