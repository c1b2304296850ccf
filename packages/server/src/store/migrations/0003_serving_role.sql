-- What the serving role may do, and nothing else. It owns nothing and can change no event.
-- Roles belong to the whole cluster: it may be there already, made by hand or by another database's migration.
do $$
begin
  if not exists (select from pg_roles where rolname = 'drs_service') then
    create role drs_service nologin;
  end if;
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
