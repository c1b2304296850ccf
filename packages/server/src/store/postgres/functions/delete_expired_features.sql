-- Deletes at most `in_limit` values of a partition whose derived period is over, and which waits until held events are
-- copied. If the derived period is shorter than the raw period, this wait is long, because a held event is copied only
-- when its own partition is dropped.
create or replace function delete_expired_features(in_partition uuid, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan as $$
declare
  part feature_partition;
  done bigint;
begin
  perform lock_holds();
  select p.* into part from feature_partition p join purpose u on u.code = p.purpose
    where p.partition_id = in_partition and p.dropped_at is null
      -- guard(true): single values are kept for the derived period
      and p.upper_bound + u.derived_retention <= transaction_time();
  if not found then
    return 0;
  end if;
  with held as materialized (
      select u.account, u.received_at, u.event_id from event_under_hold u where u.purpose = part.purpose
        and u.received_at >= part.lower_bound and u.received_at < part.upper_bound
      union all
      select c.account, c.received_at, c.event_id from held_event c where c.purpose = part.purpose
        and c.received_at >= part.lower_bound and c.received_at < part.upper_bound
        -- guard(false): values of held events that are copies already are not deleted
        and is_held(c.account, c.action_id, c.event_id)),
    expired as materialized (
      select f.account, f.received_at, f.event_id, f.layer from feature_row f where f.purpose = part.purpose
        and f.received_at >= part.lower_bound and f.received_at < part.upper_bound
        -- guard(true): values of held events are not deleted
        and (f.account, f.received_at, f.event_id) not in (select account, received_at, event_id from held)
        limit in_limit)
  delete from feature_row f using expired x where f.purpose = part.purpose and f.received_at >= part.lower_bound
    and f.received_at < part.upper_bound and f.account = x.account and f.received_at = x.received_at
    and f.event_id = x.event_id and f.layer = x.layer;
  get diagnostics done = row_count;
  if done > 0 then
    insert into retention_effect (features) values (done);
  end if;
  return done;
end
$$;
