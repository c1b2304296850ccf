-- Returns the payload of an event that an audit entry names, for a login that must not read payloads itself.
-- The place of the event is given, so that one partition is read.
create or replace function reveal_event(
  in_entry uuid, in_account text, in_purpose integer, in_received_at timestamptz, in_event_id uuid)
returns table (payload bytea, key_id uuid, hold_id uuid)
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  entry audit_entry := committed_entry(in_entry, array['event.read_raw', 'event.read_observations', 'event.compare']);
begin
  -- guard(true): an entry reveals the events that it names
  if in_event_id = any (entry.event_id || entry.event_ids) then
    return query execute format(
      'select e.payload, e.key_id, e.hold_id from unrestricted_event e
        where e.account = %L and e.purpose = %L and e.received_at = %L and e.event_id = %L',
      in_account, in_purpose, in_received_at, in_event_id);
  end if;
end
$$;
