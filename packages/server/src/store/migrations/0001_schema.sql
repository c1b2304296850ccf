-- The tables of one installation. Every unique key of what may be distributed starts with the account.

-- One row: ties a database to the key store that opens it.
create table installation (
  only_one boolean primary key default true check (only_one),
  installation_id uuid not null default gen_random_uuid(),
  -- HMAC of a fixed text under the installation's MAC secret: shows whether a key store is the right one.
  key_check bytea,
  created_at timestamptz not null default now()
);
insert into installation default values;

create table purpose (
  code integer primary key,
  id text not null unique,
  title text not null,
  created_at timestamptz not null default now()
);
insert into purpose (code, id, title) values (1, 'default', 'Built-in purpose of every action type');

-- Bounds and identity of each partition of `event`; the identity names its secret in the key store.
create table event_partition (
  purpose integer not null references purpose (code),
  lower_bound timestamptz not null,
  upper_bound timestamptz not null,
  partition_id uuid not null default gen_random_uuid(),
  table_name text not null unique,
  primary key (purpose, lower_bound),
  check (lower_bound < upper_bound)
);

create table event (
  account text not null,
  purpose integer not null,
  received_at timestamptz not null,
  event_id uuid not null,
  collected_at timestamptz not null,
  schema_version integer not null,
  idempotency_key text not null check (char_length(idempotency_key) between 1 and 128),
  action_id text not null check (char_length(action_id) between 1 and 128),
  action_type text not null check (char_length(action_type) between 1 and 64),
  session_id text not null check (char_length(session_id) between 1 and 128),
  event_type text not null check (char_length(event_type) <= 64),
  sdk_version text not null check (char_length(sdk_version) between 1 and 32),
  platform text not null check (char_length(platform) <= 16),
  app_version text not null check (char_length(app_version) <= 64),
  -- The exact bytes of the raw event: compressed, then encrypted.
  payload bytea not null,
  primary key (account, purpose, received_at, event_id)
) partition by range (purpose, received_at);

-- Already compressed, so PostgreSQL need not try.
alter table event alter column payload set storage external;

-- The access patterns; "by account" is the primary key, purpose by purpose.
create index event_action_id on event (action_id, received_at);
create index event_action_type on event (action_type, received_at);
create index event_sdk on event (sdk_version, schema_version, received_at);
create index event_received_at on event (received_at, event_id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is immutable', tg_table_name using errcode = 'restrict_violation';
end
$$;

create trigger installation_key_check_is_final before update on installation
  for each row when (old.key_check is not null) execute function refuse_change();

create trigger event_is_immutable before update on event for each row execute function refuse_change();

create table idempotency_key (
  account text not null,
  key text not null,
  event_id uuid not null,
  purpose integer not null,
  received_at timestamptz not null,
  request_mac bytea not null,
  primary key (account, key)
);

create trigger idempotency_key_is_immutable before update on idempotency_key
  for each row execute function refuse_change();

create table session_token (
  -- SHA-256 of the token: a stolen copy of the table opens nothing.
  token_hash bytea primary key,
  token_id uuid not null unique,
  account text not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);

create table action (
  account text not null,
  action_id text not null,
  action_type text not null,
  session_id text,
  registered_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (account, action_id)
);

create table audit_entry (
  entry_id uuid primary key,
  at timestamptz not null,
  actor text not null,
  operation text not null,
  outcome text not null,
  account text,
  event_id uuid,
  occurrences bigint not null default 1,
  reason text,
  -- Of a commit batch: the account and event id of each, position by position, and a digest over both lists.
  accounts text[],
  event_ids uuid[],
  digest bytea,
  detail jsonb
);
create index audit_entry_at on audit_entry (at);
create index audit_entry_event on audit_entry (event_id) where event_id is not null;
create index audit_entry_account on audit_entry (account, at) where account is not null;
-- Batches of accepted events are found by time, as an event id says when; all others by this.
create index audit_entry_event_ids on audit_entry using gin (event_ids) where event_ids is not null and accounts is null;

create trigger audit_entry_is_immutable before update on audit_entry for each row execute function refuse_change();

create table drift (
  path text not null,
  json_type text not null,
  sdk_version text not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  occurrences bigint not null,
  primary key (sdk_version, path, json_type)
);
