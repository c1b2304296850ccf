-- Deletes at most `in_limit` idempotency keys of a dropped partition whose replay window is over, except those of held
-- copies. When no key is left to delete, records the time.
create or replace function delete_idempotency_keys(in_partition uuid, in_window interval, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  found_row event_partition;
  forgotten bigint;
begin
  select * into found_row from event_partition p
    where p.partition_id = in_partition and p.idempotency_keys_deleted_at is null
      -- guard(true): idempotency keys outlive their events by the replay window
      and p.dropped_at + in_window <= transaction_time();
  if not found then
    return 0;
  end if;
  delete from idempotency_key i where (i.account, i.key) in (
    select k.account, k.key from idempotency_key k where k.purpose = found_row.purpose
      and k.received_at >= found_row.lower_bound and k.received_at < found_row.upper_bound
      and not exists (select 1 from held_event c where c.account = k.account and c.purpose = k.purpose
        and c.received_at = k.received_at and c.event_id = k.event_id) limit in_limit);
  get diagnostics forgotten = row_count;
  if forgotten > 0 then
    insert into retention_effect (keys) values (forgotten);
  end if;
  if forgotten < in_limit then
    update event_partition set idempotency_keys_deleted_at = transaction_time() where partition_id = in_partition;
  end if;
  return forgotten;
end
$$;
