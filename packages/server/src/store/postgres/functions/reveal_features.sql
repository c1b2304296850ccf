-- Returns the sealed values of events that an audit entry names, for a login that must not read them itself. The places
-- of the events are given, so that one partition is read for each.
create or replace function reveal_features(
  in_entry uuid, in_accounts text[], in_purposes integer[], in_received_at timestamptz[], in_event_ids uuid[])
returns table (event_id uuid, layer integer, payload bytea)
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  entry audit_entry := committed_entry(in_entry, array['feature.read', 'feature.explain']);
  readable text := 'unrestricted_feature';
  place record;
begin
  -- guard(true): values of a restricted account are revealed with a case
  if entry.case_id is not null then
    readable := 'live_feature';
  end if;
  for place in select n.account, n.purpose, n.received_at, n.event_id
      from unnest(in_accounts, in_purposes, in_received_at, in_event_ids) n (account, purpose, received_at, event_id)
      -- guard(true): an entry reveals values of the events that it names
      where n.event_id = any (entry.event_id || entry.event_ids)
  loop
    return query execute format(
      'select f.event_id, f.layer, f.payload from %I f
        where f.account = %L and f.purpose = %L and f.received_at = %L and f.event_id = %L',
      readable, place.account, place.purpose, place.received_at, place.event_id);
  end loop;
end
$$;
