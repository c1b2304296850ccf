-- Deletes at most `in_limit` expired events of a partition that is not to be dropped soon.
create or replace function delete_expired_events(in_partition uuid, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  part partly_expired_partition;
  done bigint;
begin
  perform lock_holds();
  select * into part from partly_expired_partition where partition_id = in_partition;
  if not found then
    return 0;
  end if;
  delete from event e where e.purpose = part.purpose
    and e.received_at >= part.lower_bound and e.received_at < part.upper_bound
    and (e.account, e.received_at, e.event_id) in (
      select x.account, x.received_at, x.event_id from event x where x.purpose = part.purpose
        and x.received_at >= part.lower_bound and x.received_at < part.upper_bound
        -- guard(true): no row is deleted before its time
        and x.received_at + part.raw_retention <= transaction_time()
        -- guard(true): held rows are not deleted
        and not exists (select 1 from legal_hold h where h.lifted_at is null and h.account = x.account)
        and not exists (select 1 from legal_hold h where h.lifted_at is null and h.action_id = x.action_id)
        and not exists (select 1 from legal_hold h where h.lifted_at is null and h.event_id = x.event_id) limit in_limit);
  get diagnostics done = row_count;
  delete from extraction_failure x where x.purpose = part.purpose and x.received_at >= part.lower_bound
    and x.received_at < part.upper_bound and (select x.received_at + part.raw_retention <= transaction_time());
  if done > 0 then
    insert into retention_effect (rows, deleted) values (done, done);
  end if;
  return done;
end
$$;
