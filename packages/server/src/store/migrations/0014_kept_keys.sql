-- An idempotency key lives as long as its event is kept in whatever form, held copies included, plus the replay window.

-- Deletes keys of a dropped partition whose replay window is over, at most so many; those of held copies stay until the
-- copies go. Records when no other is left.
create or replace function forget_keys(in_partition uuid, in_window interval, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  found_row event_partition;
  forgotten bigint;
begin
  select * into found_row from event_partition p
    where p.partition_id = in_partition and p.keys_forgotten_at is null and p.dropped_at + in_window <= now();
  if not found then
    return 0;
  end if;
  delete from idempotency_key i where (i.account, i.key) in (
    select k.account, k.key from idempotency_key k where k.purpose = found_row.purpose
      and k.received_at >= found_row.lower_bound and k.received_at < found_row.upper_bound
      and not exists (select from held_event c where c.account = k.account and c.purpose = k.purpose
        and c.received_at = k.received_at and c.event_id = k.event_id) limit in_limit);
  get diagnostics forgotten = row_count;
  if forgotten < in_limit then
    update event_partition set keys_forgotten_at = now() where partition_id = in_partition;
  end if;
  return forgotten;
end
$$;

-- Copies that no hold covers any more and that are erased or past their period, with what the ledger has of them.
create view released_copy as
  select c.account, c.purpose, c.received_at, c.event_id, c.idempotency_key, i.request_mac
    from legal_hold h join held_event c on c.hold_id = h.hold_id join purpose u on u.code = c.purpose
      left join idempotency_key i on i.account = c.account and i.key = c.idempotency_key and i.event_id = c.event_id
    where h.lifted_at is not null and h.secret_destroyed_at is null
      and (c.erased_by is not null or c.received_at + u.raw_retention <= now())
      and not is_held(c.account, c.action_id, c.event_id);

-- Deletes such copies, and their keys, which are tombstones by then, where the partition of the event is dropped.
drop function delete_released_copies(integer);
create function delete_released_copies(in_events uuid[]) returns bigint
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  deleted bigint;
begin
  perform lock_holds();
  with gone as (
    delete from held_event c using released_copy r
      where r.event_id = any (in_events) and c.account = r.account and c.purpose = r.purpose
        and c.received_at = r.received_at and c.event_id = r.event_id
      returning c.account, c.purpose, c.received_at, c.event_id, c.idempotency_key),
  forgotten as (
    delete from idempotency_key i using gone g join event_partition p
      on p.purpose = g.purpose and p.lower_bound <= g.received_at and g.received_at < p.upper_bound
      where p.dropped_at is not null and i.account = g.account and i.key = g.idempotency_key and i.event_id = g.event_id)
  select count(*) into deleted from gone;
  return deleted;
end
$$;

-- Begins the replay window of tombstones again.
create function renew_tombstones(in_names bytea[]) returns void
language sql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
  update tombstone set made_at = now() where name_mac = any (in_names)
$$;

revoke all on function delete_released_copies(uuid[]), renew_tombstones(bytea[]) from public;
grant execute on function delete_released_copies(uuid[]), renew_tombstones(bytea[]) to drs_service;
grant select on released_copy to drs_service;
