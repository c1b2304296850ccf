-- The entries that may be shown as an act of their actor: all but those whose MAC a worker found invalid. `checked` is
-- whether a worker has checked the MAC.
create or replace view shown_entry as
  select e.*, l.verified is not null as checked
    from audit_entry e left join audit_leaf l on l.entry_id = e.entry_id
    -- guard: what a login of the database inserted is not shown as a person's act
    where l.verified is distinct from false;

-- Statements on `event` name one purpose and a range of time by constants: PostgreSQL then plans and locks the
-- partitions of that range, and no others.

-- Every event that is kept, wherever it is stored. `partition_purpose` leaves out the copies or, where it is -1, every
-- partition of `event`.
create or replace view kept_event as
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, key_id, null::uuid as hold_id,
      null::bigint as erased_by, purpose as partition_purpose from event
  union all
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, null::uuid, hold_id, erased_by, -1
    from held_event;

-- The events that may be read: not erased, and not expired (by the database's clock) or under a hold. From the moment
-- at which an event is erased or expires, no read finds it, even if its row is deleted later. `restricted` is whether
-- an event is excluded from analysis: by a restriction, or because it is erased and only a hold keeps it.
create or replace view live_event as
  select e.*, e.erased_by is not null
      or case when e.hold_id is null then (select k.restricted from account_key k where k.key_id = e.key_id)
        else exists (select 1 from account_key k where k.account = e.account and k.purpose = e.purpose and k.restricted) end
      as restricted
    from kept_event e
    -- guard(true): no read finds an erased event
    where (e.hold_id is not null or (select k.erased_by is null from account_key k where k.key_id = e.key_id))
      and ((e.erased_by is null
          -- guard(true): no read finds an expired event
          and coalesce(e.received_at + (select p.raw_retention from purpose p where p.code = e.purpose), 'infinity') > transaction_time())
        -- guard(false): an event under a hold is read after its retention period
        or exists (select 1 from legal_hold h where h.lifted_at is null and h.account = e.account)
        or exists (select 1 from legal_hold h where h.lifted_at is null and h.action_id = e.action_id)
        or exists (select 1 from legal_hold h where h.lifted_at is null and h.event_id = e.event_id));

-- The events that may be analysed.
create or replace view unrestricted_event as
  select * from live_event
    -- guard(true): a restricted event is not analysed
    where not restricted;

-- Events that an analyst may read by SQL: functions of the analyst's query see no row that the view leaves out.
create or replace view readable_event with (security_barrier) as
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload from unrestricted_event;

-- Events in partitions that a hold covers; one row for each hold.
create or replace view event_under_hold as
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id, e.key_id
    from legal_hold h join idempotency_key i on i.account = h.account
      join event e on e.purpose = i.purpose and e.received_at = i.received_at and e.event_id = i.event_id
    where h.lifted_at is null and not is_account_key_erased(e.key_id)
  union all
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id, e.key_id
    from legal_hold h join event e on e.action_id = h.action_id
    where h.lifted_at is null and not is_account_key_erased(e.key_id)
  union all
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id, e.key_id
    from legal_hold h join event e on e.received_at = h.event_received_at and e.event_id = h.event_id
    where h.lifted_at is null and not is_account_key_erased(e.key_id);

-- Copies that are erased or expired and that no hold covers any more, with what the ledger has of them. A copy that can't
-- be opened outlives the secret of its hold while another hold covers it.
create or replace view released_copy as
  select c.account, c.purpose, c.received_at, c.event_id, c.idempotency_key, i.request_mac
    from legal_hold h join held_event c on c.hold_id = h.hold_id join purpose u on u.code = c.purpose
      left join idempotency_key i on i.account = c.account and i.key = c.idempotency_key and i.event_id = c.event_id
    where h.lifted_at is not null
      -- guard(false): copies of what is erased are deleted when the hold ends
      and (c.erased_by is not null or c.received_at + u.raw_retention <= transaction_time())
      -- guard(true): a copy stays while any hold covers it
      and not is_held(c.account, c.action_id, c.event_id);

-- Partitions that contain expired events and are not to be dropped soon, because the retention period is shorter than a
-- day, or because they are longer than today's retention period asks for: their rows are deleted one by one.
create or replace view partly_expired_partition as
  select p.partition_id, p.purpose, p.lower_bound, p.upper_bound, u.raw_retention
    from event_partition p join purpose u on u.code = p.purpose
    where p.dropped_at is null and p.lower_bound + u.raw_retention <= transaction_time()
      and (u.raw_retention < interval '1 day'
        or p.upper_bound - p.lower_bound > case partition_unit(u.raw_retention)
          when 'hour' then interval '1 hour' when 'day' then interval '1 day' when 'week' then interval '7 days'
          else interval '31 days' end);

-- Every row of feature values that is kept, wherever it is stored. `partition_purpose` is as in `kept_event`.
create or replace view kept_feature as
  select account, purpose, received_at, event_id, layer, action_id, action_type, platform, sdk_version, app_version,
      schema_version, extracted_at, key_id, payload, null::uuid as hold_id, null::bigint as erased_by,
      purpose as partition_purpose from feature_row
  union all
  select c.account, c.purpose, c.received_at, c.event_id, c.layer, e.action_id, e.action_type, e.platform, e.sdk_version,
      e.app_version, e.schema_version, c.extracted_at, c.key_id, c.payload, e.hold_id, e.erased_by, -1
    from held_feature c join held_event e on e.account = c.account and e.purpose = c.purpose
      and e.received_at = c.received_at and e.event_id = c.event_id;

-- The feature values that may be read: not erased, and not past the derived period, or under a hold. `restricted` is as
-- in `live_event`.
create or replace view live_feature as
  select f.*, f.erased_by is not null
      or case when f.hold_id is null then (select k.restricted from account_key k where k.key_id = f.key_id)
        else exists (select 1 from account_key k where k.account = f.account and k.purpose = f.purpose and k.restricted) end
      as restricted
    from kept_feature f
    -- guard(true): no read finds values of an erased account
    where (f.hold_id is not null or (select k.erased_by is null from account_key k where k.key_id = f.key_id))
      and ((f.erased_by is null
          -- guard(true): values past the derived period are not read
          and coalesce(f.received_at + (select p.derived_retention from purpose p where p.code = f.purpose), 'infinity') > transaction_time())
        -- guard(false): values of a held event are read after the derived period
        or exists (select 1 from legal_hold h where h.lifted_at is null and h.account = f.account)
        or exists (select 1 from legal_hold h where h.lifted_at is null and h.action_id = f.action_id)
        or exists (select 1 from legal_hold h where h.lifted_at is null and h.event_id = f.event_id));

-- The feature values that may be analysed.
create or replace view unrestricted_feature as
  select * from live_feature
    -- guard(true): values of a restricted account are not analysed
    where not restricted;
