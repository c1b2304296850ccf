-- The current secrets of active holds, and of lifted holds with a copy that another hold covers. Security definer,
-- because ingestion checks that the key store has them, and may read no held copy.
create or replace function needed_hold_secrets() returns setof uuid
language sql stable security definer
set search_path = drs, pg_temp as $$
  select coalesce(h.later_secrets[cardinality(h.later_secrets)], h.hold_id) from legal_hold h
    where secret_destroyed_at is null and (lifted_at is null or exists (
      select 1 from held_event c where c.hold_id = h.hold_id and octet_length(c.payload) > 0
        and is_held(c.account, c.action_id, c.event_id)))
$$;
