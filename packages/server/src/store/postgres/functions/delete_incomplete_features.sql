-- Deletes values of which some lack only because their computation took too long, so that the caller can store more
-- complete ones in the same transaction. Other values can't be deleted with this function.
create or replace function delete_incomplete_features(in_events uuid[], in_layers integer[]) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  delete from feature_row f using unnest(in_events, in_layers) n (event_id, layer), extraction_failure x, account_key k
    where x.event_id = n.event_id and x.layer = n.layer and x.reason = 'time-limit'
      and f.purpose = x.purpose and f.received_at = x.received_at and f.event_id = x.event_id and f.layer = x.layer
      -- guard: what can't be stored again is not deleted
      and k.key_id = f.key_id and k.erased_by is null and not k.restricted
      -- guard: a hold of the account keeps the values that existed
      and not exists (select 1 from legal_hold h where h.lifted_at is null and h.account = f.account)
      -- guard: a hold of the action keeps the values that existed
      and not exists (select 1 from legal_hold h where h.lifted_at is null and h.action_id = f.action_id)
      -- guard: a hold of the event keeps the values that existed
      and not exists (select 1 from legal_hold h where h.lifted_at is null and h.event_id = f.event_id);
end
$$;
