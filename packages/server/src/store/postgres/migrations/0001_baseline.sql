-- The tables of one installation. Each unique key of a table that may be distributed starts with the account.

-- The roles of the surfaces; `store/postgres/grants.ts` has what each may do. They own nothing and can change no event. Roles
-- belong to the cluster: they may exist already, created by hand or by the migration of another database.
do $$
declare
  name text;
begin
  foreach name in array array['drs_service', 'drs_ingest', 'drs_admin'] loop
    begin
      if not exists (select 1 from pg_roles where rolname = name) then
        execute format('create role %I nologin', name);
      end if;
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
  -- One login can be enough: the login of all surfaces may take the role of each surface.
  foreach name in array array['drs_ingest', 'drs_admin'] loop
    begin
      if not pg_has_role('drs_service', name, 'member') then
        execute format('grant %I to drs_service', name);
      end if;
    exception when unique_violation then null;
    end;
  end loop;
end
$$;

-- Defaults of columns need these functions. The others, except the function of triggers, are created after the tables.
\ir ../functions/transaction_time.sql
\ir ../functions/wall_clock_time.sql

-- One row, by which a server checks that the key store belongs to this database.
create table installation (
  only_one boolean primary key default true check (only_one),
  installation_id uuid not null default gen_random_uuid(),
  -- HMAC of a fixed text under a key that is derived from the installation secret: shows that a key store is the right
  -- one.
  key_check bytea,
  created_at timestamptz not null default transaction_time()
);
insert into installation default values;

-- One row if this is a demo (`drs demo`), and none otherwise. Until the demo is filled, no other process opens the
-- installation, because the clock of the schema is behind.
create table demo (
  only_one boolean primary key default true check (only_one),
  filled_at timestamptz
);

-- Why events are kept, and for how long. A purpose that was in use is never deleted, only retired.
create table purpose (
  code integer primary key,
  id text not null unique,
  title text not null,
  created_at timestamptz not null default transaction_time(),
  legal_basis text,
  owner text,
  -- The period counts from `received_at`, as calendar arithmetic in UTC. Null: kept without end, as before the first
  -- policy.
  raw_retention interval check (raw_retention > interval '0'),
  derived_retention interval check (derived_retention > interval '0'),
  -- What the purpose covers of an event; null: all. An event with other data is recorded as such, or rejected as a whole.
  probes text[],
  highest_sensitivity text check (highest_sensitivity in ('low', 'medium', 'high')),
  beyond text not null default 'record' check (beyond in ('record', 'refuse')),
  -- The attributes that an export of feature values may have in addition.
  export_attributes text[] not null default '{}'
    check (export_attributes <@ '{platform,sdk_version,app_version,action_type}'),
  retired_at timestamptz,
  -- A purpose that a policy left out without periods has the shortest ones, so that its empty partitions are dropped;
  -- lists do not show a period that no policy gave.
  assumed_periods boolean not null default false
);
insert into purpose (code, id, title) values (1, 'default', 'Built-in purpose of every action type');

-- Each policy that was applied, as it was read. The latest is active; events keep the purpose that they were stored
-- under. Only the owner's login changes a policy: a stolen serving login must not shorten a period.
create table policy (
  version integer primary key check (version > 0),
  applied_at timestamptz not null,
  actor text not null,
  -- Purpose of an action type that is not mapped; null: such events are rejected.
  unmapped integer references purpose (code),
  document jsonb not null
);
create table purpose_mapping (
  policy_version integer not null references policy (version),
  action_type text not null check (char_length(action_type) between 1 and 64),
  purpose integer not null references purpose (code),
  primary key (policy_version, action_type)
);

-- Bounds and id of each partition of `event`; the id names its first secret in the key store. An expired partition is
-- dropped; its row stays and says when.
create table event_partition (
  purpose integer not null references purpose (code),
  lower_bound timestamptz not null,
  upper_bound timestamptz not null,
  partition_id uuid not null default gen_random_uuid(),
  -- Whether the first secret was created. It is true before anything is sealed under that secret: one that is missing
  -- then is lost, and must not be created again under the same name.
  secret_created boolean not null default false,
  table_name text not null unique,
  -- Ids of the secrets that followed the first one, each made when the loss of the one before was accepted; the last one
  -- is in use.
  later_secrets uuid[] not null default '{}',
  dropped_at timestamptz,
  dropped_rows bigint,
  dropped_bytes bigint,
  -- From then on, no backup of the database has a payload of the partition that can be opened, once the backups of the
  -- key store are deleted, too.
  secret_destroyed_at timestamptz,
  -- When the last idempotency key of its events was deleted, after the replay window.
  idempotency_keys_deleted_at timestamptz,
  primary key (purpose, lower_bound),
  check (lower_bound < upper_bound)
);
create index event_partition_unfinished on event_partition (dropped_at)
  where dropped_at is not null and (secret_destroyed_at is null or idempotency_keys_deleted_at is null);

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
  -- The exact bytes of the raw event: compressed, then encrypted. PostgreSQL need not compress them again.
  payload bytea not null,
  key_id uuid not null,
  -- In the order of time: a new event is at the end of the index, for any account.
  primary key (purpose, received_at, event_id)
) partition by range (purpose, received_at);
alter table event alter column payload set storage external;
-- The access patterns; "by account" is the primary key of `idempotency_key`, which has the key of each event.
create index event_action_id on event (action_id);
create index event_action_type on event (action_type, received_at);
create index event_sdk on event (sdk_version, received_at);

-- A row is kept as long as its event or a held copy of it, plus the replay window.
create table idempotency_key (
  account text not null,
  key text not null,
  event_id uuid not null,
  purpose integer not null,
  received_at timestamptz not null,
  request_mac bytea not null,
  key_id uuid not null,
  primary key (account, key)
);
create index idempotency_key_received_at on idempotency_key (purpose, received_at);

-- Counts the payloads that are read to compare retries; `read_payload_to_compare` describes the format of the value.
create sequence compared_payload minvalue 0;

create table session_token (
  -- SHA-256 of the token: a stolen copy of the table authenticates no client.
  token_hash bytea primary key,
  token_id uuid not null unique,
  account text not null,
  issued_at timestamptz not null,
  -- guard(drop): a login of the database inserts no row that hides the page after it
  check (issued_at between '2000-01-01Z' and '9999-12-31Z' and issued_at = issued_at::timestamptz(3)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  revoked_at timestamptz check (isfinite(revoked_at))
);
create table action (
  account text not null,
  action_id text not null,
  action_type text not null,
  session_id text,
  registered_at timestamptz not null,
  -- guard(drop): a login of the database inserts no row that hides the page after it
  check (registered_at between '2000-01-01Z' and '9999-12-31Z' and registered_at = registered_at::timestamptz(3)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  revoked_at timestamptz check (isfinite(revoked_at)),
  primary key (account, action_id)
);
-- Finds whether an id that an account lacks belongs to another one.
create index action_by_id on action (action_id);

create table audit_entry (
  entry_id uuid primary key,
  -- guard: a login of the database writes no time that the worker can't read
  at timestamptz not null check (at between '2000-01-01Z' and '9999-12-31Z'),
  actor text not null,
  via text not null check (via in ('api', 'console', 'cli', 'direct', 'server')),
  roles text[],
  operation text not null,
  outcome text not null,
  -- Keyed MAC of the account. A review of the entry has it, too.
  subject bytea,
  -- guard(drop): a login of the database writes no entry of which a review can't be opened
  check (octet_length(subject) = 16),
  event_id uuid,
  -- guard: a login of the database writes no number whose sum is out of range
  occurrences bigint not null check (occurrences between 0 and 1000000000000),
  reason text,
  -- A commit batch has the subject and event id of each event, position by position.
  subjects bytea[],
  event_ids uuid[],
  detail jsonb,
  category text,
  ticket text,
  case_id uuid,
  approval_id uuid,
  -- The secret that reason and detail are sealed under, in the record.
  secret_id uuid,
  -- The entry itself, in the format `drs-audit/1`; all columns above are copies.
  record bytea not null,
  -- guard: a login of the database can't write an entry that is too large for the worker that checks it
  check (octet_length(record) <= 1048576
    and octet_length(concat(actor, roles, operation, outcome, reason, category, ticket)) <= 16384
    and octet_length(concat(actor, roles, operation, outcome, reason, subjects, event_ids, detail, category, ticket)) <= 131072),
  -- HMAC-SHA-256 of the record, by the key of its surface.
  mac bytea not null check (octet_length(mac) = 32),
  lane uuid,
  -- guard: a login of the database writes no number that JavaScript rounds
  lane_number bigint check (lane_number between 1 and 9007199254740991),
  -- When the entry was written, the transaction (`pg_xact_status` knows whether it was committed) and the login. The
  -- writer can't choose them.
  written_at timestamptz not null,
  xid xid8 not null,
  login name not null,
  -- guard: a login takes no place in the lane of another one, whose batch of events would then fail
  unique (lane, lane_number, login)
);
-- Random bytes can't be compressed.
alter table audit_entry alter column record set storage external;
create index audit_entry_at on audit_entry (at);
-- The person of an entry of the admin API: the actor up to the credential.
create index audit_entry_person on audit_entry (split_part(actor, ' (', 1), at) where via in ('api', 'console', 'cli');
create index audit_entry_direct on audit_entry (operation, at) where via = 'direct';
create index audit_entry_xid on audit_entry (xid);
create index audit_entry_keys on audit_entry (entry_id) where operation = 'audit.keys';
create index audit_entry_event on audit_entry (event_id) where event_id is not null;
create index audit_entry_subject on audit_entry (subject, at) where subject is not null;
-- Batches of accepted events are found by time, which their event ids contain; all other lists by this index.
create index audit_entry_event_ids on audit_entry using gin (event_ids) where event_ids is not null and subjects is null;

-- Secrets of the key store that reasons and details of entries are sealed under.
create table audit_secret (
  -- A MAC of the account and a number, so that the server finds the secrets of an account by their ids, however many rows a
  -- login of the database inserts.
  secret_id uuid primary key,
  -- Keyed MAC of the account; null: the installation.
  subject bytea,
  created_at timestamptz not null,
  -- When the account was erased. Nothing is sealed under the secret afterwards.
  ended_at timestamptz,
  destroyed_at timestamptz
);
create index audit_secret_ended on audit_secret (ended_at, secret_id) where ended_at is not null and destroyed_at is null;
create index audit_secret_destroyed on audit_secret (destroyed_at) where destroyed_at is not null;

-- Reviews of what an entry says was done; who opened and closed them and why is in the audit.
create table audit_review (
  -- A reader begins after the nil UUID. The id of a review is a MAC of its number, so that the server finds its reviews by
  -- their ids, however many rows a login of the database inserts.
  review_id uuid primary key check (review_id > '00000000-0000-0000-0000-000000000000'),
  entry_id uuid not null,
  -- Keyed MAC of the account that the entry is about.
  subject bytea check (octet_length(subject) = 16),
  opened_at timestamptz not null check (isfinite(opened_at)),
  -- A login of the database can't choose it.
  written_at timestamptz not null,
  -- Covers all columns before `written_at`. The database does not have the key. The server uses no row without a valid
  -- MAC.
  mac bytea not null check (octet_length(mac) = 32)
);
create index audit_review_written on audit_review (written_at, review_id);
create index audit_review_subject on audit_review (subject) where subject is not null;
-- The ends of reviews. A login of the database can insert rows; only one with a valid MAC ends its review.
create table audit_review_end (
  -- A MAC of the review and a number, so that the server finds the end of a review by its id, however many rows a login
  -- of the database inserts. A reader begins after the nil UUID.
  end_id uuid primary key check (end_id > '00000000-0000-0000-0000-000000000000'),
  review_id uuid not null references audit_review (review_id),
  -- A login of the database can't choose it, and the MAC covers it. A copy of a row that somebody inserts again, after a
  -- restore lost the row, gets a new time, so that its MAC is invalid.
  ended_at timestamptz not null,
  -- The MAC covers the MAC of the review and all columns before it.
  -- guard(drop): a login of the database can't make a page larger than memory
  check (octet_length(mac) = 32),
  mac bytea not null
);
create index audit_review_end_ended_at on audit_review_end (ended_at, end_id);

-- The log of the audit: a leaf of the tree of RFC 6962 for each entry. Its hash covers record and MAC.
create table audit_leaf (
  -- A tree for each epoch: a database that was restored to an earlier state continues in the next one.
  epoch integer not null check (epoch > 0),
  leaf bigint not null check (leaf >= 0),
  entry_id uuid not null unique,
  hash bytea not null,
  -- Whether the entry had a valid MAC, and columns that copy its record, when it got its leaf. An entry without is
  -- no person's act.
  verified boolean not null,
  primary key (epoch, leaf)
);
create index audit_leaf_unverified on audit_leaf (entry_id) where not verified;
create table audit_checkpoint (
  epoch integer not null check (epoch > 0),
  size bigint not null check (size > 0),
  at timestamptz not null,
  -- The signed note.
  note text not null,
  -- The roots of the perfect subtrees, from which the tree grows.
  roots bytea[] not null,
  -- All transactions before this one are finished, and their entries are in the log.
  upto xid8 not null,
  primary key (epoch, size)
);

-- Verifications of the audit log: who asked a worker for one, and what it found.
create table audit_verification (
  verification_id uuid primary key,
  requested_by text not null,
  -- What to compare, as JSON.
  request text not null check (octet_length(request) <= 65536),
  requested_at timestamptz not null,
  -- Covers all columns before `requested_at`. The database does not have the key. A worker deletes a row without a valid
  -- MAC.
  request_mac bytea not null check (octet_length(request_mac) = 32),
  started_at timestamptz,
  -- The number of items of the log that were read.
  progress bigint not null,
  ended_at timestamptz,
  -- What was found, as JSON. Its MAC also covers the id and the end.
  result text,
  result_mac bytea
);
create index audit_verification_waiting on audit_verification (requested_at) where ended_at is null;
create index audit_verification_ended on audit_verification (ended_at) where ended_at is not null;

-- Members of stored events that the catalog does not know, counted. A path has the names from the probe down, joined by dots.
create table drift (
  path text not null check (char_length(path) <= 1000),
  json_type text not null,
  -- guard(drop): a login of ingestion can't add types until a decision about the path fails
  check (json_type in ('string', 'number', 'boolean', 'null', 'array', 'object', 'absent', 'not-walked', '*')),
  platform text not null check (char_length(platform) <= 16),
  sdk_version text not null check (char_length(sdk_version) <= 32),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  occurrences bigint not null,
  -- The events of 30 days in UTC; the last number is of the day of `last_seen`.
  daily bigint[] not null check (cardinality(daily) = 30),
  primary key (sdk_version, platform, path, json_type)
);

-- What was decided about paths of `drift`: who, when, why, and which JSON types had been seen there. The newest decision
-- that is not `classified` counts.
create table drift_decision (
  -- A login of the database can choose neither this number nor `decided_at`.
  decision bigint generated always as identity primary key,
  -- A MAC of the number of the decision, so that the server finds its decisions in their order, however many rows a login
  -- of the database inserts.
  decision_id uuid not null unique,
  path text not null check (path ~ '^[A-Za-z0-9_]{1,64}(\.[A-Za-z0-9_]{1,64}){0,2}$'),
  kind text not null check (kind in ('accepted', 'classified', 'ignored', 'rejected')),
  type text check (type in ('string', 'boolean', 'number', 'string[]', 'number[]')),
  unit text check (char_length(unit) <= 32),
  -- An accepted field has the proposed sensitivity only after a classification.
  sensitivity text check (sensitivity in ('low', 'medium', 'high')),
  -- The first day on which the path is listed again; null: it is ignored until a new type is seen.
  ignored_until date check (isfinite(ignored_until)),
  -- One of each type of `drift`, at most.
  seen_types text[] not null check (cardinality(seen_types) <= 9
    and seen_types <@ '{string,number,boolean,"null",array,object,absent,not-walked,*}'),
  -- The MAC covers it. Therefore a row that a restore lost is invalid when a login of the database inserts its copy.
  decided_at timestamptz not null,
  decided_by text not null check (char_length(decided_by) <= 512),
  reason text not null,
  -- Covers all other columns except the number. The database does not have the key.
  mac bytea not null check (octet_length(mac) = 32),
  -- guard(drop): a login of the database can't make a page larger than memory
  check (length(reason) <= 1000),
  check ((kind = 'accepted') = (type is not null)),
  check ((coalesce(type, '') like 'number%') = (unit is not null)),
  check ((kind in ('accepted', 'classified')) = (sensitivity is not null)),
  check (kind = 'ignored' or ignored_until is null)
);
create index drift_decision_decided_at on drift_decision (decided_at, decision);

-- Counts by hour, which name no account and no event. Empty texts: not known, or there is none.
create table probe_outcome (
  hour timestamptz not null,
  platform text not null,
  sdk_version text not null,
  os_major text not null,
  probe text not null,
  state text not null,
  reason text not null,
  occurrences bigint not null,
  primary key (hour, platform, sdk_version, os_major, probe, state, reason)
);
create table rejection (
  hour timestamptz not null,
  problem text not null,
  violation text not null,
  place text not null,
  sdk_version text not null,
  occurrences bigint not null,
  primary key (hour, problem, violation, place, sdk_version)
);

-- The latest rejected requests: codes, names of the contract, and the account. The WAL and physical backups have no row
-- of it, and a crash empties it.
create unlogged table recent_rejection (
  rejection_id bigint generated always as identity primary key,
  at timestamptz not null,
  -- Null before the authentication.
  account text check (char_length(account) between 1 and 256),
  problem text not null check (problem ~ '^[a-z0-9-]{1,64}$'),
  -- Why, where the client does not learn it.
  cause text check (cause ~ '^[a-z-]{1,64}$'),
  sdk_version text check (sdk_version ~ '^[a-z0-9.-]{1,64}$'),
  -- The first rules that the request broke. An empty text: no violation, or the whole request.
  violations text[] not null check (array_to_string(violations, ' ') ~ '^[a-z0-9 -]*$'
    and char_length(array_to_string(violations, ' ')) <= 500),
  places text[] not null check (array_to_string(places, ' ') ~ '^(/([a-zA-Z][a-zA-Z0-9_]*|[*])| )*$'
    and char_length(array_to_string(places, ' ')) <= 2000),
  -- Whether it broke more rules than these.
  more boolean not null,
  check (cardinality(violations) = cardinality(places) and cardinality(places) <= 5)
);
create index recent_rejection_account on recent_rejection (account, rejection_id);

-- What the database has applied of the erasure journal: erasures, and orders about holds and restrictions.
create table journal_entry (
  sequence bigint primary key check (sequence > 0),
  kind text not null check (kind in ('account', 'purpose', 'action', 'event', 'hold', 'hold-placed', 'hold-reviewed',
    'hold-lifted', 'restriction-placed', 'restriction-lifted', 'loss')),
  -- SHA-256 of the entry's text.
  entry_digest bytea not null,
  applied_at timestamptz not null default transaction_time(),
  -- An operator stated that the journal has permanently lost the entry.
  loss_accepted_at timestamptz,
  loss_accepted_by text,
  loss_reason text,
  check (num_nulls(loss_accepted_at, loss_accepted_by, loss_reason) in (0, 3))
);

-- One row for each erasure; its sequence number is that of its journal entry.
create table erasure (
  sequence bigint primary key check (sequence > 0) references journal_entry (sequence),
  erasure_id uuid not null unique,
  kind text not null check (kind in ('account', 'purpose', 'action', 'event', 'hold')),
  -- Keyed MAC of what was erased: a caller who can name the subject finds its erasures.
  subject_mac bytea,
  began_at timestamptz not null,
  finished_at timestamptz,
  actor text not null,
  reason text not null,
  -- Random ids of the secrets that were destroyed.
  keys uuid[] not null,
  events bigint not null default 0,
  idempotency_keys bigint not null default 0,
  tokens bigint not null default 0,
  actions bigint not null default 0,
  -- Copies that a hold kept when the erasure began.
  held bigint not null default 0,
  receipt text,
  -- Deleted copies of holds, whose secrets may open copies of other events.
  copies bigint not null default 0,
  -- Deleted events under a hold that could not be opened, and so could not be copied.
  unreadable bigint not null default 0,
  -- Deleted rows of feature values.
  features bigint not null default 0,
  -- When the last copy that a hold kept of the erasure was deleted, with the receipt that says so.
  completed_at timestamptz,
  final_receipt text
);
create index erasure_subject on erasure (subject_mac);

-- Accounts whose events are refused since they were erased; keyed MACs.
create table refused_account (
  account_mac bytea primary key,
  sequence bigint not null references erasure (sequence)
);

-- A random id for each account that has an event, a token or an action.
create table account_identity (
  account text primary key,
  account_id uuid not null unique,
  created_at timestamptz not null,
  -- Keyed MAC of the name, by which a restriction names the account. It is set before the first event.
  account_mac bytea unique
);
-- Losses of secrets that the owner accepted: the key store will never have them again, as far as the owner knows.
create table secret_loss (
  loss_id bigint primary key check (loss_id > 0),
  accepted_at timestamptz not null default transaction_time(),
  accepted_by text not null,
  reason text not null,
  -- What was sealed under the lost secrets, counted when the loss was accepted.
  events bigint not null,
  accounts bigint not null,
  partitions bigint not null,
  copies bigint not null
);
-- Names of lost secrets: no event is sealed under them any more.
create table lost_secret (
  name text primary key,
  loss_id bigint not null references secret_loss (loss_id)
);

-- Names the secret that events of an account and purpose are sealed under. The id is random, so that the erasure
-- journal can name it and identify no account. An erasure marks the row; it is deleted with the last event.
create table account_key (
  key_id uuid primary key,
  account text not null,
  purpose integer not null references purpose (code),
  created_at timestamptz not null default transaction_time(),
  erased_by bigint references erasure (sequence),
  -- The accepted loss of its secret: the events stay, later ones are sealed under another key.
  lost_by bigint references secret_loss (loss_id),
  -- Whether a restriction hides the events that are sealed under it.
  restricted boolean not null default false
);
create unique index account_key_current on account_key (account, purpose)
  where erased_by is null and lost_by is null;
create index account_key_account on account_key (account);
create index account_key_created_at on account_key (created_at);
create index account_key_erased on account_key (erased_by) where erased_by is not null;

-- What is left of an idempotency key after an erasure, or after a released copy is deleted: keyed MACs of (account,
-- key) and of the request, and the event's id under a mask, which is computed from (account, key) and the installation
-- secret.
create table tombstone (
  name_mac bytea primary key,
  masked_event_id bytea not null,
  request_mac bytea not null,
  made_at timestamptz not null default transaction_time()
);
create index tombstone_made_at on tombstone (made_at);

-- What must be kept although it has expired or is erased: events of an account, of an action, or one event. Only the
-- owner's login places and lifts a hold.
create table legal_hold (
  hold_id uuid primary key,
  account text,
  action_id text,
  event_id uuid,
  -- When the event was received: the indexes of `event` need it.
  event_received_at timestamptz,
  reason text not null,
  approver text not null,
  review_on date not null,
  placed_at timestamptz not null,
  placed_by text not null,
  lifted_at timestamptz,
  lifted_by text,
  lift_reason text,
  -- Ids of later secrets, as of a partition; the first secret is named by the id of the hold.
  later_secrets uuid[] not null default '{}',
  -- The hold is lifted, and no copy under its secret is left.
  secret_destroyed_at timestamptz,
  -- A hold that was replayed from the journal has these until its account or action is found.
  subject_kind text check (subject_kind in ('account', 'action_id')),
  subject_mac bytea,
  constraint legal_hold_subject check (
    num_nonnulls(account, action_id, event_id) = 1
    or (num_nonnulls(account, action_id, event_id) = 0 and subject_kind is not null)),
  constraint legal_hold_mac check ((subject_kind is null) = (subject_mac is null)),
  check ((event_id is null) = (event_received_at is null)),
  check (secret_destroyed_at is null or lifted_at is not null)
);
create index legal_hold_account on legal_hold (account) where lifted_at is null and account is not null;
create index legal_hold_action on legal_hold (action_id) where lifted_at is null and action_id is not null;
create index legal_hold_event on legal_hold (event_id) where lifted_at is null and event_id is not null;

-- Copies of held events, sealed under a secret of the hold before their partition is dropped or the events are erased.
-- One copy for each event: it stays while any hold covers it. The payload is empty if the secrets of the event were
-- destroyed or lost before.
create table held_event (
  like event including defaults including constraints including storage,
  hold_id uuid not null references legal_hold (hold_id),
  -- The erasure that waits for the end of the hold.
  erased_by bigint references erasure (sequence),
  primary key (account, purpose, received_at, event_id)
);
-- The secret of a copy is that of its hold.
alter table held_event drop column key_id;
create index held_event_action_id on held_event (action_id);
create index held_event_action_type on held_event (action_type, received_at);
create index held_event_sdk on held_event (sdk_version, received_at);
create index held_event_received_at on held_event (received_at, event_id);
create index held_event_hold_id on held_event (hold_id);
create index held_event_erased_by on held_event (erased_by) where erased_by is not null;

-- Restrictions and objections (GDPR, articles 18 and 21): events of an account that are kept and not analysed. A row
-- names the account only by its keyed MAC, so that it also applies in a database that was restored to a state before
-- the account's first event. Only the owner's login places and lifts a restriction.
create table restriction (
  restriction_id uuid primary key,
  account_mac bytea not null,
  -- Null: all purposes.
  purpose integer references purpose (code),
  article integer not null check (article in (18, 21)),
  reason text not null,
  approver text,
  -- The request that asked for it; a restored database may lack it.
  request_id uuid,
  placed_at timestamptz not null,
  placed_by text not null,
  -- When the person was informed that it would be lifted.
  informed_on date,
  lifted_at timestamptz,
  lifted_by text,
  lift_reason text,
  -- The erasure of the account, which ended it.
  erased_by bigint references erasure (sequence),
  check (num_nonnulls(approver, request_id) > 0),
  check (num_nulls(informed_on, lifted_at, lifted_by, lift_reason) in (0, 4))
);
create index restriction_account on restriction (account_mac);
create index restriction_request on restriction (request_id) where request_id is not null;

create table retention_run (
  run_id uuid primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  actor text not null,
  partitions integer not null,
  rows bigint not null,
  bytes bigint not null,
  secrets integer not null,
  keys bigint not null,
  copies bigint not null default 0,
  features bigint not null default 0,
  receipt text
);
create index retention_run_started_at on retention_run (started_at);

-- What retention has done, recorded in the transaction that did it. A pass signs and deletes every row that no pass has
-- signed yet, also those of a pass that was killed: receipts state what happened, and each effect once.
create table retention_effect (
  effect_id bigint generated always as identity primary key,
  at timestamptz not null default transaction_time(),
  partitions bigint not null default 0,
  -- The number of deleted events, without the ones that a hold keeps in a copy.
  rows bigint not null default 0,
  bytes bigint not null default 0,
  -- The number of rows that were deleted one by one.
  deleted bigint not null default 0,
  -- The number of events of dropped partitions that a hold keeps in a copy.
  held bigint not null default 0,
  copies bigint not null default 0,
  keys bigint not null default 0,
  -- The number of deleted rows of feature values, without the ones that a hold keeps in a copy.
  features bigint not null default 0,
  -- The partition or hold whose secret is destroyed, or about to be.
  secret_of uuid
);

-- Rotations of the key-encryption key, whose secrets are in the key store. One that was interrupted has no end; the next
-- one continues it.
create table key_rotation (
  rotation_id uuid primary key,
  started_at timestamptz not null default transaction_time(),
  started_by text not null,
  -- The number of secrets to wrap again, and the number of wrapped ones.
  secrets bigint not null,
  wrapped bigint not null default 0,
  finished_at timestamptz,
  -- guard(drop): a login of the database inserts no number that stops a rotation
  check (least(secrets, wrapped) >= 0 and greatest(secrets, wrapped) <= 1000000000000)
);

-- Backups that somebody has recorded; receipts rely on them. Only the owner's login records one: a stolen serving login
-- must not make a backup look new.
create table recorded_backup (
  store text not null check (store in ('events', 'keys', 'journal')),
  -- When it began.
  taken_at timestamptz not null,
  recorded_at timestamptz not null default transaction_time(),
  recorded_by text not null,
  primary key (store, taken_at)
);

-- Requests by data subjects (GDPR, articles 15 to 22): what was asked, when it is due, and the outcome.
create table data_request (
  request_id uuid primary key,
  -- Keyed MAC of the account: a caller who can name the account finds its requests.
  subject_mac bytea not null,
  -- The name of the account, until the request is closed.
  account text,
  kind text not null
    check (kind in ('access', 'rectification', 'erasure', 'restriction', 'portability', 'objection')),
  received_at timestamptz not null,
  due_at timestamptz not null,
  -- How the identity of the person was verified.
  identity text,
  extension_ground text,
  recorded_by text not null,
  closed_at timestamptz,
  closed_by text,
  outcome text check (outcome in ('done', 'partly', 'refused')),
  ground text,
  erasure_id uuid references erasure (erasure_id),
  export_id uuid,
  -- When a request that was closed in part was completed.
  completed_at timestamptz,
  check ((closed_at is null) = (outcome is null)),
  check ((closed_at is null) = (account is not null)),
  check (outcome is distinct from 'refused' or ground is not null),
  check (outcome is distinct from 'done' or identity is not null),
  constraint data_request_partly
    check (outcome is distinct from 'partly' or (identity is not null and erasure_id is not null))
);
create index data_request_subject on data_request (subject_mac);
create index data_request_open on data_request (due_at) where closed_at is null;

-- Rows that no login changes, the owner's included.
\ir ../functions/refuse_change.sql
create trigger installation_key_check_is_final before update on installation
  for each row when (old.key_check is not null) execute function refuse_change();
create trigger event_is_immutable before update on event for each row execute function refuse_change();
create trigger idempotency_key_is_immutable before update on idempotency_key
  for each row execute function refuse_change();
create trigger audit_entry_is_immutable before update on audit_entry
  for each row execute function refuse_change();
create trigger audit_leaf_is_immutable before update on audit_leaf for each row execute function refuse_change();
create trigger audit_checkpoint_is_immutable before update on audit_checkpoint
  for each row execute function refuse_change();
create trigger policy_is_immutable before update on policy for each row execute function refuse_change();
create trigger purpose_mapping_is_immutable before update on purpose_mapping
  for each row execute function refuse_change();
create trigger retention_run_is_immutable before update on retention_run
  for each row execute function refuse_change();
-- All columns but `erased_by`.
create trigger held_event_is_immutable before update of account, purpose, received_at, event_id, collected_at,
  schema_version, idempotency_key, action_id, action_type, session_id, event_type, sdk_version, platform, app_version,
  payload, hold_id on held_event for each row execute function refuse_change();

-- Columns of rows that logins insert, and that no login chooses.
\ir ../functions/fill_in.sql
\ir ../functions/fill_in_entry.sql
create trigger audit_entry_is_filled_in before insert on audit_entry for each row execute function fill_in_entry();
create trigger audit_secret_is_filled_in before insert on audit_secret
  for each row execute function fill_in('created_at');
create trigger audit_review_is_filled_in before insert on audit_review
  for each row execute function fill_in('written_at');
create trigger audit_review_end_is_filled_in before insert on audit_review_end
  for each row execute function fill_in('ended_at');
create trigger audit_verification_is_filled_in before insert on audit_verification
  for each row execute function fill_in('requested_at', 'progress');
-- The owner may give the id and an earlier time.
create trigger account_identity_is_filled_in before insert on account_identity
  for each row when (new.account_id is null) execute function fill_in('account_id', 'created_at');
create trigger drift_decision_is_filled_in before insert on drift_decision
  for each row execute function fill_in('decided_at');

-- Tokens of people and machines for the admin API, as hashes. Only the owner's login issues one: a stolen serving login
-- must not give itself a role.
create table admin_token (
  token_hash bytea primary key,
  token_id uuid not null unique,
  person text not null check (char_length(person) between 1 and 128 and person !~ '[()]'),
  roles text[] not null check (cardinality(roles) > 0),
  -- Who asked for it through the admin API and got it; null where the owner's login issued it.
  obtained_by text,
  -- A start on the embedded database issued it; the next start revokes it.
  is_initial boolean not null default false,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  check (expires_at <= issued_at + interval '90 days')
);

-- The people whom a role file has listed. A token of a person who is no longer listed is refused; a token of a machine,
-- which no role file lists, is not.
create table listed_person (
  person text primary key
);

-- Sessions of people who signed in, codes that `drs login` exchanges for one, and links that a browser exchanges for one
-- on loopback, as hashes. The MAC is made under a key that the database does not hold: a stolen serving login can't write a session that servers accept. A row is kept
-- until it has expired: if it were deleted and inserted again, a session that had ended would be active again.
create table admin_session (
  secret_hash bytea primary key,
  session_id uuid not null unique,
  kind text not null check (kind in ('console', 'login', 'code', 'link')),
  person text not null check (char_length(person) between 1 and 128 and person !~ '[()]'),
  -- A hash of issuer and subject.
  identity text not null,
  roles text[] not null check (cardinality(roles) > 0),
  -- Hashes of the values of the claim that gave the roles.
  granted_by text[] not null,
  authenticated_at timestamptz,
  code_challenge text,
  started_at timestamptz not null,
  -- guard(drop): a login of the database inserts no row that hides the page after it
  check (started_at between '2000-01-01Z' and '9999-12-31Z' and started_at = started_at::timestamptz(3)),
  last_used_at timestamptz not null check (isfinite(last_used_at)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  -- When it was ended, or the code was exchanged.
  ended_at timestamptz,
  mac bytea not null,
  check ((kind = 'code') = (code_challenge is not null))
);
create index admin_session_identity on admin_session (identity);

-- The identities with which people signed in, for the list of people. The name is what the identity provider says: it can
-- be another person's, and decides nothing.
create table signed_in_identity (
  -- A hash of issuer and subject.
  identity text primary key check (identity ~ '^[0-9a-f]{64}$'),
  person text not null check (char_length(person) between 1 and 128 and person !~ '[()]'),
  name text check (char_length(name) between 1 and 128),
  roles text[] not null check (cardinality(roles) between 1 and 5
    and roles <@ '{operator,analyst,investigator,privacy,auditor}'),
  signed_in_at timestamptz not null,
  -- guard(drop): a login of the database inserts no row that hides the page after it
  check (signed_in_at between '2000-01-01Z' and '9999-12-31Z' and signed_in_at = signed_in_at::timestamptz(3))
);
create index signed_in_identity_person on signed_in_identity (person);

-- Sign-ins in progress, by the hash of the secret in the browser's cookie.
create table sign_in_attempt (
  secret_hash bytea primary key,
  attempt text not null,
  expires_at timestamptz not null
);

-- Why a person opens events.
create table access_case (
  case_id uuid primary key,
  category text not null,
  ticket text,
  reason text not null,
  scope text not null check (scope in ('account', 'action', 'event')),
  -- A case of an event has the event's account: the erasure of the account deletes it.
  account text,
  action_id text,
  event_id uuid,
  opened_by text not null,
  opened_at timestamptz not null,
  -- guard(drop): a login of the database inserts no row that hides the page after it
  check (opened_at between '2000-01-01Z' and '9999-12-31Z' and opened_at = opened_at::timestamptz(3)),
  expires_at timestamptz not null check (isfinite(expires_at) and expires_at - opened_at <= interval '8 hours'),
  closed_at timestamptz,
  events_opened bigint not null default 0,
  -- An action id is of an account: other accounts may use the same one.
  check (case scope when 'account' then num_nonnulls(account) = 1 and num_nulls(action_id, event_id) = 2
    when 'action' then num_nonnulls(account, action_id) = 2 and event_id is null
    else num_nonnulls(event_id) = 1 and action_id is null end)
);
create index access_case_opened_at on access_case (opened_at);
create index access_case_account on access_case (account) where account is not null;

-- Operations that wait for, or have, the approval of other persons. Rows say what was asked and why; decisions are in
-- `approval_decision`. The MACs are made under a key that the database does not hold: a login of the database can't ask
-- or decide.
create table approval (
  -- A reader begins after the nil UUID. The id is a MAC of the person, the digest and a number, so that the server finds
  -- the approvals of an operation by their ids, however many rows a login of the database inserts.
  approval_id uuid primary key check (approval_id > '00000000-0000-0000-0000-000000000000'),
  operation text not null check (char_length(operation) <= 64),
  parameters jsonb not null,
  plan jsonb not null,
  -- PostgreSQL's text has a space after each comma and colon, so that it is longer than the JSON of the admin API.
  -- guard(drop): a login of the database can't make a page of approvals larger than memory
  check (octet_length(parameters::text) + octet_length(plan::text) <= 196608),
  -- Maximum number of events that it may touch.
  max_events bigint not null,
  -- SHA-256 of the canonical form of operation, parameters and roles: not of counts, which each new event changes.
  digest bytea not null check (octet_length(digest) = 32),
  needed_roles text[] not null check (cardinality(needed_roles) between 1 and 5
    and needed_roles <@ '{operator,analyst,investigator,privacy,auditor}'),
  -- Whether the approval of one of the roles is enough. Otherwise a different person must approve for each role.
  any_role boolean not null default false,
  reason text not null check (char_length(reason) <= 1000),
  requested_by text not null check (char_length(requested_by) <= 128),
  -- If another person obtained the admin token of the request: that person. Neither of the two may decide.
  obtained_by text check (char_length(obtained_by) <= 128),
  requested_at timestamptz not null,
  -- A page of the list ends with a time in milliseconds.
  -- guard(drop): a login of the database inserts no row that hides the page after it
  check (requested_at between '2000-01-01Z' and '9999-12-31Z' and requested_at = requested_at::timestamptz(3)),
  expires_at timestamptz not null check (expires_at between '2000-01-01Z' and '9999-12-31Z'),
  used_at timestamptz check (used_at between '2000-01-01Z' and '9999-12-31Z'),
  -- A login of the database can't choose it.
  written_at timestamptz not null,
  mac bytea not null check (octet_length(mac) = 32)
);
create index approval_requested_at on approval (requested_at);
create index approval_operation on approval (requested_by, digest, requested_at desc, approval_id);
create table approval_decision (
  approval_id uuid not null references approval (approval_id),
  -- The needed role that the person decided for.
  role text not null,
  person text not null check (char_length(person) <= 128),
  decision text not null check (decision in ('approved', 'denied')),
  decided_at timestamptz not null check (isfinite(decided_at)),
  written_at timestamptz not null,
  mac bytea not null check (octet_length(mac) = 32),
  -- guard(drop): a login of the database can't add decisions about an approval without limit
  check (role in ('operator', 'analyst', 'investigator', 'privacy', 'auditor')),
  primary key (approval_id, role),
  unique (approval_id, person)
);
create trigger approval_is_filled_in before insert on approval for each row execute function fill_in('written_at');
create trigger approval_decision_is_filled_in before insert on approval_decision
  for each row execute function fill_in('written_at');
-- Acts that a stolen serving login must not undo: to close, to revoke, to use up.
create trigger session_token_is_revoked_once before update on session_token for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at) execute function refuse_change();
create trigger action_is_revoked_once before update on action for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at) execute function refuse_change();
create trigger admin_token_is_revoked_once before update on admin_token for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at) execute function refuse_change();
create trigger admin_session_ends_once before update on admin_session for each row
  when (old.ended_at is not null and new.ended_at is distinct from old.ended_at) execute function refuse_change();
create trigger access_case_is_closed_once before update on access_case for each row
  when (new.events_opened < old.events_opened or old.closed_at is not null and new.closed_at is distinct from old.closed_at)
  execute function refuse_change();
create trigger approval_is_used_once before update on approval for each row
  when (old.used_at is not null) execute function refuse_change();
create trigger approval_decision_is_immutable before update on approval_decision
  for each row execute function refuse_change();

-- Versions of features: the bundle of the definition, which is run from here, and its manifest (JCS). Only the owner's
-- login proposes, adopts and retires features: a stolen serving login must not choose the code that runs.
create table feature_version (
  id text not null check (id ~ '^[a-z][a-z0-9_]{0,63}$'),
  version integer not null check (version > 0),
  -- SHA-256 of what identifies the version, as the manifest has it.
  hash text not null,
  bundle text not null,
  manifest text not null,
  -- The fixtures that were proposed with it (JCS).
  fixtures text,
  primary key (id, version)
);
-- What was decided about features: who, when, why, and the evidence of that day. A feature is named `id@version`.
create table feature_decision (
  decision integer primary key check (decision > 0),
  kind text not null check (kind in ('proposed', 'adopted', 'retired', 'equivalent')),
  features text[] not null check (cardinality(features) > 0),
  purpose integer references purpose (code),
  decided_at timestamptz not null default transaction_time(),
  decided_by text not null,
  reason text not null,
  evidence jsonb not null,
  check ((kind in ('proposed', 'equivalent')) = (purpose is null))
);
-- The feature versions that are computed together for the events of a purpose. A version is in at most one active layer
-- of a purpose.
create table layer (
  layer integer primary key check (layer > 0),
  purpose integer not null references purpose (code),
  members text[] not null check (cardinality(members) > 0),
  -- The events that were received in this time have a row; a backfill adds earlier ones.
  active_from timestamptz not null,
  ended_at timestamptz check (ended_at >= active_from)
);
create index layer_active on layer (purpose) where ended_at is null;

-- Bounds and id of each partition of `feature_row`, as `event_partition` has them of `event`.
create table feature_partition (
  purpose integer not null references purpose (code),
  lower_bound timestamptz not null,
  upper_bound timestamptz not null,
  partition_id uuid not null unique default gen_random_uuid(),
  secret_created boolean not null default false,
  table_name text not null unique,
  later_secrets uuid[] not null default '{}',
  dropped_at timestamptz,
  dropped_rows bigint,
  secret_destroyed_at timestamptz,
  primary key (purpose, lower_bound),
  check (lower_bound < upper_bound)
);
create index feature_partition_unfinished on feature_partition (dropped_at)
  where dropped_at is not null and secret_destroyed_at is null;

-- One row for each event and layer. It outlives the event, for the derived period of the purpose.
create table feature_row (
  account text not null,
  purpose integer not null,
  received_at timestamptz not null,
  event_id uuid not null,
  layer integer not null,
  action_id text not null,
  action_type text not null,
  platform text not null,
  sdk_version text not null,
  app_version text not null,
  schema_version integer not null,
  -- The backfill that computed it; null: computed after the event was stored.
  run_id uuid,
  -- Later than the lock that an export waits for: what is stored after an export began has a later time.
  extracted_at timestamptz not null default wall_clock_time(),
  -- The account key of the event.
  key_id uuid not null,
  -- Values, states and the fingerprint of the raw event, encrypted.
  payload bytea not null,
  primary key (account, purpose, received_at, event_id, layer)
) partition by range (purpose, received_at);
alter table feature_row alter column payload set storage external;
create index feature_row_action_id on feature_row (action_id, received_at);
-- Serves reads by event id, which says when the event was received; rows are nearly in this order.
create index feature_row_received_at on feature_row using brin (received_at) with (pages_per_range = 16);

-- Copies of the values of held events, sealed under a secret of the hold that keeps the copy of the event, before their
-- partition is dropped or their row is erased. The copy of the event has the other attributes, and the values are
-- deleted with it. The payload is empty if the values could not be opened.
create table held_feature (
  account text not null,
  purpose integer not null,
  received_at timestamptz not null,
  event_id uuid not null,
  layer integer not null,
  extracted_at timestamptz not null,
  -- The account key that the values were sealed under before.
  key_id uuid not null,
  payload bytea not null,
  primary key (account, purpose, received_at, event_id, layer),
  foreign key (account, purpose, received_at, event_id) references held_event on delete cascade
);

-- The events of a commit batch whose features are not computed yet; it names no account. Written while a layer is active.
create table extraction_due (
  due_id bigint generated always as identity primary key,
  purposes integer[] not null,
  received_at timestamptz[] not null,
  event_ids uuid[] not null,
  stored_at timestamptz not null default transaction_time(),
  tries integer not null default 0,
  not_before timestamptz not null default transaction_time()
);
-- Events whose features of a layer could not be computed, or not all of them.
create table extraction_failure (
  event_id uuid not null,
  layer integer not null references layer (layer),
  purpose integer not null,
  received_at timestamptz not null,
  reason text not null check (reason in ('unreadable', 'not-json', 'time-limit', 'error')),
  failed_at timestamptz not null default transaction_time(),
  primary key (event_id, layer)
);

-- Computations of the features of stored events, in chunks.
create table feature_run (
  run_id uuid primary key,
  purpose integer not null references purpose (code),
  layers integer[] not null check (cardinality(layers) > 0),
  from_at timestamptz not null,
  to_at timestamptz not null check (from_at < to_at),
  -- Maximum number of events per second, over all workers; null: no limit.
  rate integer check (rate > 0),
  state text not null default 'running' check (state in ('running', 'paused', 'cancelled', 'done')),
  started_at timestamptz not null default transaction_time(),
  started_by text not null,
  reason text not null,
  -- With a rate: when the next events may be computed.
  next_at timestamptz not null default transaction_time(),
  ended_at timestamptz,
  check ((ended_at is null) = (state in ('running', 'paused')))
);
create index feature_run_running on feature_run (started_at) where state = 'running';
-- A part of a run within one partition of `event`: after (from_at, from_event), up to (to_at, to_event). First it is
-- split into chunks of at most 5,000 events; then each chunk is computed, and finally balanced.
create table feature_chunk (
  chunk_id bigint generated always as identity primary key,
  run_id uuid not null references feature_run (run_id),
  step text not null default 'split' check (step in ('split', 'compute', 'balance', 'done')),
  from_at timestamptz not null,
  from_event uuid not null,
  to_at timestamptz not null,
  to_event uuid not null,
  -- The number of its events when it was split off.
  events integer not null default 0,
  -- The last event that was computed, and how many were.
  at_time timestamptz not null,
  at_event uuid not null,
  computed integer not null default 0,
  -- A failure raises `tries`, so that the next piece is smaller. A success lowers it, so that the next piece is larger.
  -- `rounds`: how often its balance missed rows.
  tries integer not null default 0,
  rounds integer not null default 0,
  not_before timestamptz not null default transaction_time(),
  -- The balance: for each layer, how many events met which fate.
  balance jsonb
);
create index feature_chunk_unfinished on feature_chunk (run_id, step, chunk_id) where step <> 'done';
create index feature_chunk_run_id on feature_chunk (run_id);

-- How often a feature had a state or value, by day; it names no account and no event, and is never deleted.
create table feature_tally (
  day date not null,
  feature text not null,
  platform text not null,
  sdk_version text not null,
  state text not null,
  -- The bin of an observed value; empty for other states.
  bin text not null,
  occurrences bigint not null,
  primary key (day, feature, platform, sdk_version, state, bin)
);

-- The times at which attestations began to read. An unfinished attestation has a row, too. Values that are stored
-- afterwards have no earlier time, even if the clock was set back.
create table attestation_start (
  attested_at timestamptz primary key
);

-- What was recomputed of a partition of events before it expired, by layer. The hashes of rows are salted inside the
-- sealed rows: after an erasure nothing links them to an event.
create table attestation (
  partition_id uuid not null,
  layer integer not null references layer (layer),
  -- When the attestation began to read. It covers only rows that were extracted before.
  attested_at timestamptz not null,
  -- Rows of the layer, and the number of them that a computation from the events gave again.
  rows bigint not null,
  equal bigint not null check (equal <= rows),
  root bytea not null,
  -- The hashes of the equal rows, sorted, 32 bytes each.
  leaves bytea not null,
  -- What is attested, signed with the key of receipts.
  statement text not null,
  primary key (partition_id, layer)
);
alter table attestation alter column leaves set storage external;
create trigger attestation_is_immutable before update or delete on attestation
  for each row execute function refuse_change();

create trigger drift_decision_is_immutable before update or delete on drift_decision
  for each row execute function refuse_change();

-- Exports of feature values and of raw events: what was handed out, to whom, why and until when. The file is not kept.
create table data_export (
  export_id uuid primary key,
  kind text not null check (kind in ('features', 'events')),
  -- Null in the rows of raw events, whose case and audit entries say what was selected, and why.
  purpose integer references purpose (code),
  features text[] check (cardinality(features) > 0),
  clock text check (clock in ('received', 'known')),
  reason text,
  labels_sha256 text,
  label_rows bigint,
  attributes text[],
  input_states boolean,
  -- It has the events of this time before each label; null: the newest event alone.
  history_ms bigint check (history_ms is null or history_ms > 0 and kind = 'features'),
  case_id uuid,
  format text not null check (format in ('csv', 'jsonl', 'parquet', 'ndjson')),
  recipient text not null,
  expires_on date not null,
  -- Values that were stored later, and events that were received later, are not in it.
  watermark timestamptz not null,
  -- The latest erasure that had been applied when it began.
  erasures bigint not null,
  -- When the oldest event was received whose feature values it has; null: it has none.
  oldest_received_at timestamptz,
  started_at timestamptz not null default transaction_time(),
  started_by text not null,
  -- Null: the export did not end, and its file is incomplete.
  finished_at timestamptz,
  manifest jsonb,
  check ((finished_at is null) = (manifest is null)),
  check (num_nulls(purpose, features, clock, reason, labels_sha256, label_rows, attributes, input_states)
    = case kind when 'features' then 0 else 8 end),
  check ((case_id is null) = (kind = 'features')),
  check ((format = 'ndjson') = (kind = 'events'))
);
create index data_export_started_at on data_export (started_at);
-- Whose data is in which row of an export, by the keyed MAC that an erasure of the same subject has.
create table export_subject (
  export_id uuid not null references data_export (export_id),
  row_number integer not null,
  subject_mac bytea not null,
  primary key (export_id, row_number, subject_mac)
);
create index export_subject_mac on export_subject (subject_mac);
-- Erasures whose rows the recipient of an export has deleted; null: the period of the export, and so all rows.
create table acknowledged_recall (
  export_id uuid not null references data_export (export_id),
  sequence bigint references erasure (sequence),
  acknowledged_at timestamptz not null default transaction_time(),
  acknowledged_by text not null,
  reason text not null,
  unique nulls not distinct (export_id, sequence)
);

create trigger feature_version_is_immutable before update or delete on feature_version
  for each row execute function refuse_change();
create trigger feature_decision_is_immutable before update or delete on feature_decision
  for each row execute function refuse_change();
-- A layer ends once; all else of it is final.
create trigger layer_is_final before update on layer for each row
  when (old.ended_at is not null or (old.layer, old.purpose, old.members, old.active_from)
    is distinct from (new.layer, new.purpose, new.members, new.active_from)) execute function refuse_change();
create trigger feature_row_is_immutable before update on feature_row for each row execute function refuse_change();
create trigger held_feature_is_immutable before update on held_feature for each row execute function refuse_change();
create trigger data_export_is_final before update on data_export for each row
  when (old.finished_at is not null) execute function refuse_change();
create trigger export_subject_is_immutable before update on export_subject for each row execute function refuse_change();
create trigger acknowledged_recall_is_immutable before update on acknowledged_recall
  for each row execute function refuse_change();
