-- What the serving role may do, and nothing else. It owns nothing and can change no event.
do $$
begin
  create role drs_service nologin;
exception when duplicate_object or unique_violation then null;
end
$$;

grant usage on schema drs to drs_service;
revoke all on function ensure_event_partition(integer, timestamptz) from public;
grant execute on function ensure_event_partition(integer, timestamptz) to drs_service;

grant select on schema_migration, purpose, event_partition to drs_service;
grant select, update (key_check) on installation to drs_service;
grant select, insert on event, idempotency_key, audit_entry to drs_service;
grant select, insert, update (revoked_at) on session_token, action to drs_service;
grant select, insert, update (last_seen, occurrences) on drift to drs_service;
