-- Returns the event that an idempotency key of an account names, for ingestion, which compares a retry with it and may
-- read no other payload. It allows at most ten thousand calls in an hour, over all servers. The sequence counts them,
-- because a rollback does not reset a sequence. Its value is the hour, then nine digits of the count.
create or replace function read_payload_to_compare(in_account text, in_key text)
returns table (account text, purpose integer, received_at timestamptz, event_id uuid, collected_at timestamptz,
  schema_version integer, idempotency_key text, action_id text, action_type text, session_id text, event_type text,
  sdk_version text, platform text, app_version text, payload bytea, key_id uuid, hold_id uuid)
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  this_hour constant bigint := floor(extract(epoch from wall_clock_time()) / 3600)::bigint * 1000000000;
  entry idempotency_key;
begin
  if (select last_value - last_value % 1000000000 from compared_payload) <> this_hour then
    -- The first call of an hour starts the count, once: a call that waited finds it started.
    perform pg_advisory_xact_lock(7236529);
    -- guard(true): no call at the turn of an hour starts the count again
    if (select last_value - last_value % 1000000000 from compared_payload) <> this_hour then
      perform setval('compared_payload', this_hour);
    end if;
  end if;
  -- guard(false): a stolen login of ingestion can't read all payloads
  if nextval('compared_payload') > this_hour + 10000 then
    raise exception 'retries read too many payloads in this hour' using errcode = 'program_limit_exceeded';
  end if;
  select * into entry from idempotency_key i where i.account = in_account and i.key = in_key;
  if not found then
    return;
  end if;
  -- The statement contains constants, so that PostgreSQL reads one partition only.
  return query execute format(
    'select e.account, e.purpose, e.received_at, e.event_id, e.collected_at, e.schema_version, e.idempotency_key,
        e.action_id, e.action_type, e.session_id, e.event_type, e.sdk_version, e.platform, e.app_version, e.payload,
        e.key_id, e.hold_id
      from live_event e where e.account = %L and e.purpose = %L and e.received_at = %L and e.event_id = %L',
    entry.account, entry.purpose, entry.received_at, entry.event_id);
end
$$;
