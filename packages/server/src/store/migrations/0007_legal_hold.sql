-- What must be kept although its period is over: of an account, of an action or one event.
create table legal_hold (
  hold_id uuid primary key,
  account text,
  action_id text,
  event_id uuid,
  -- Of an event: when it was received, for the index.
  event_received_at timestamptz,
  reason text not null,
  approver text not null,
  review_on date not null,
  placed_at timestamptz not null,
  placed_by text not null,
  lifted_at timestamptz,
  lifted_by text,
  lift_reason text,
  -- Lifted, and no copy under its key is left.
  secret_destroyed_at timestamptz,
  check (num_nonnulls(account, action_id, event_id) = 1),
  check ((event_id is null) = (event_received_at is null)),
  check (secret_destroyed_at is null or lifted_at is not null)
);
create index legal_hold_account on legal_hold (account) where lifted_at is null and account is not null;
create index legal_hold_action on legal_hold (action_id) where lifted_at is null and action_id is not null;
create index legal_hold_event on legal_hold (event_id) where lifted_at is null and event_id is not null;

-- Copies of held events, sealed under a key of the hold, made before their partition is dropped. One copy an event: it
-- stays while any hold covers it.
create table held_event (
  like event including defaults including constraints including storage,
  hold_id uuid not null references legal_hold (hold_id),
  primary key (account, purpose, received_at, event_id)
);
create index held_event_action_id on held_event (action_id, received_at);
create index held_event_action_type on held_event (action_type, received_at);
create index held_event_sdk on held_event (sdk_version, schema_version, received_at);
create index held_event_received_at on held_event (received_at, event_id);
create index held_event_hold_id on held_event (hold_id);
create trigger held_event_is_immutable before update on held_event for each row execute function refuse_change();

-- Every event that is kept, wherever it lies: reads ask this.
create view kept_event as
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, null::uuid as hold_id from event
  union all
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, hold_id from held_event;

-- Events in partitions that a hold covers; once for each hold.
create view event_under_hold as
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id
    from legal_hold h join event e on e.account = h.account where h.lifted_at is null
  union all
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id
    from legal_hold h join event e on e.action_id = h.action_id where h.lifted_at is null
  union all
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id
    from legal_hold h join event e on e.received_at = h.event_received_at and e.event_id = h.event_id
    where h.lifted_at is null;

create function is_held(in_account text, in_action text, in_event uuid) returns boolean language sql stable as $$
  select exists (select from drs.legal_hold where lifted_at is null and account = in_account)
    or exists (select from drs.legal_hold where lifted_at is null and action_id = in_action)
    or exists (select from drs.legal_hold where lifted_at is null and event_id = in_event)
$$;

-- Placing a hold and letting go of events exclude each other: nothing falls between. To the end of the transaction.
create function lock_holds() returns void language sql as $$ select pg_advisory_xact_lock(7236519) $$;

create or replace function drop_expired_partition(in_partition uuid) returns setof event_partition
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  found_row event_partition;
  held bigint;
begin
  perform lock_holds();
  select p.* into found_row from event_partition p join purpose u on u.code = p.purpose
    where p.partition_id = in_partition and p.dropped_at is null and p.upper_bound + u.raw_retention <= now();
  if not found then
    return;
  end if;
  if exists (select from event_under_hold u where u.purpose = found_row.purpose
      and u.received_at >= found_row.lower_bound and u.received_at < found_row.upper_bound
      and not exists (select from held_event c where c.account = u.account and c.purpose = u.purpose
        and c.received_at = u.received_at and c.event_id = u.event_id)) then
    raise exception 'the partition has held events without a copy' using errcode = 'restrict_violation';
  end if;
  execute format('select count(*) from %I', found_row.table_name) into held;
  found_row.dropped_bytes := pg_total_relation_size(to_regclass(format('%I', found_row.table_name)));
  execute format('drop table %I', found_row.table_name);
  update event_partition p set dropped_at = now(), dropped_rows = held, dropped_bytes = found_row.dropped_bytes
    where p.partition_id = in_partition returning * into found_row;
  return next found_row;
end
$$;

create or replace function delete_expired_events(in_purpose integer, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  deleted bigint;
begin
  perform lock_holds();
  delete from event e using (
    select x.account, x.purpose, x.received_at, x.event_id from event x join purpose u on u.code = x.purpose
      where x.purpose = in_purpose and x.received_at + u.raw_retention <= now()
        and not is_held(x.account, x.action_id, x.event_id) limit in_limit) gone
    where e.account = gone.account and e.purpose = gone.purpose and e.received_at = gone.received_at
      and e.event_id = gone.event_id;
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- Deletes copies that no hold covers any more and that are past their period, at most so many.
create function delete_released_copies(in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  deleted bigint;
begin
  perform lock_holds();
  delete from held_event where ctid = any (array(
    select c.ctid from legal_hold h join held_event c on c.hold_id = h.hold_id join purpose u on u.code = c.purpose
      where h.lifted_at is not null and h.secret_destroyed_at is null and c.received_at + u.raw_retention <= now()
        and not is_held(c.account, c.action_id, c.event_id) limit in_limit));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- Marks that the secret of a lifted hold is no more; only where no copy needs it.
create function record_destroyed_hold_secret(in_hold uuid) returns void
language sql security definer set search_path = drs, pg_temp as $$
  update legal_hold set secret_destroyed_at = now()
    where hold_id = in_hold and lifted_at is not null and secret_destroyed_at is null
      and not exists (select from held_event where hold_id = in_hold)
$$;

revoke all on function lock_holds(), is_held(text, text, uuid), delete_released_copies(integer),
  record_destroyed_hold_secret(uuid) from public;
grant execute on function lock_holds(), is_held(text, text, uuid), delete_released_copies(integer),
  record_destroyed_hold_secret(uuid) to drs_service;
-- A hold is placed and lifted by the owner's login alone.
grant select on legal_hold, kept_event, event_under_hold to drs_service;
grant select, insert on held_event to drs_service;

-- Of copies too.
alter table retention_run add column copies bigint not null default 0;
