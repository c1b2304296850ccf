-- Returns the payload of the event that an audit entry names, for a login that must not read payloads itself.
-- The place of the event is given, so that one partition is read.
create or replace function reveal_event(
  in_entry uuid, in_account text, in_purpose integer, in_received_at timestamptz)
returns table (payload bytea, key_id uuid, hold_id uuid)
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  entry audit_entry := committed_entry(in_entry, array['event.read_raw', 'event.read_observations', 'event.compare']);
begin
  return query execute format(
    'select e.payload, e.key_id, e.hold_id from unrestricted_event e
      where e.account = %L and e.purpose = %L and e.received_at = %L and e.event_id = %L',
    in_account, in_purpose, in_received_at, entry.event_id);
end
$$;
