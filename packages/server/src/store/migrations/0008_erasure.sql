-- Keys of accounts have random ids, so that the erasure journal can name them and tell nothing. Events that were sealed
-- before lack one; no released version made any.
do $$
begin
  if exists (select from drs.event) then
    raise exception 'the events of this database were stored by a version that was never released: start with an empty one'
      using errcode = 'feature_not_supported';
  end if;
end
$$;

-- A random id for each account that anything is kept of.
create table account_identity (
  account text primary key,
  account_id uuid not null unique default gen_random_uuid(),
  created_at timestamptz not null default now()
);

-- One row an erasure; its sequence is that of the journal.
create table erasure (
  sequence bigint primary key check (sequence > 0),
  erasure_id uuid not null unique,
  -- SHA-256 of the journal's entry.
  entry_digest bytea not null,
  kind text not null check (kind in ('account', 'purpose', 'action', 'event', 'hold')),
  -- Keyed MAC of what was erased: finds it again for whoever can name it, and tells nobody else.
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
  -- Copies that a hold kept when it began.
  held bigint not null default 0,
  receipt text
);
create index erasure_subject on erasure (subject_mac);

-- Accounts whose events are refused since they were erased; keyed MACs.
create table refused_account (
  account_mac bytea primary key,
  sequence bigint not null references erasure (sequence)
);

-- Names the secret that events of an account and purpose are sealed under. An erasure marks it; when nothing of it is
-- left, the row goes too.
create table account_key (
  key_id uuid primary key,
  account text not null,
  purpose integer not null references purpose (code),
  created_at timestamptz not null default now(),
  erased_by bigint references erasure (sequence)
);
create unique index account_key_current on account_key (account, purpose) where erased_by is null;
create index account_key_account on account_key (account);
create index account_key_created_at on account_key (created_at);
create index account_key_erased on account_key (erased_by) where erased_by is not null;

alter table event add column key_id uuid not null;
alter table idempotency_key add column key_id uuid not null;

-- What is left of the ledger after an erasure: keyed MACs of (account, key) and of the request, and the event's id under
-- a mask that only (account, key) gives.
create table tombstone (
  name_mac bytea primary key,
  masked_event_id bytea not null,
  request_mac bytea not null,
  made_at timestamptz not null default now()
);
create index tombstone_made_at on tombstone (made_at);

-- A copy whose erasure waits for the end of the hold.
alter table held_event add column erased_by bigint references erasure (sequence);
create index held_event_erased_by on held_event (erased_by) where erased_by is not null;
drop trigger held_event_is_immutable on held_event;
create trigger held_event_is_immutable before update of account, purpose, received_at, event_id, collected_at,
  schema_version, idempotency_key, action_id, action_type, session_id, event_type, sdk_version, platform, app_version,
  payload, hold_id on held_event for each row execute function refuse_change();

drop view kept_event, event_under_hold;

create function is_erased(in_key uuid) returns boolean language sql stable as $$
  select not exists (select from drs.account_key where key_id = in_key and erased_by is null)
$$;

create view kept_event as
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, key_id, null::uuid as hold_id,
      null::bigint as erased_by from event
  union all
  select account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id, action_type,
      session_id, event_type, sdk_version, platform, app_version, payload, null::uuid, hold_id, erased_by from held_event;

create view event_under_hold as
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id, e.key_id
    from legal_hold h join event e on e.account = h.account where h.lifted_at is null and not is_erased(e.key_id)
  union all
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id, e.key_id
    from legal_hold h join event e on e.action_id = h.action_id where h.lifted_at is null and not is_erased(e.key_id)
  union all
  select h.hold_id, e.account, e.purpose, e.received_at, e.event_id, e.key_id
    from legal_hold h join event e on e.received_at = h.event_received_at and e.event_id = h.event_id
    where h.lifted_at is null and not is_erased(e.key_id);

-- Commit batches share this lock; an erasure takes it alone: what was committed before is erased, what is
-- committed later was sealed under another key.
create function join_epoch() returns void language sql as $$ select pg_advisory_xact_lock_shared(7236520) $$;
create function close_epoch() returns void language sql as $$ select pg_advisory_xact_lock(7236520) $$;

-- Entries of the journal are numbered one at a time.
create function lock_journal() returns void language sql as $$ select pg_advisory_xact_lock(7236521) $$;

-- The key that an account's events of a purpose are sealed under: the given one, unless one stands.
create function ensure_account_key(in_account text, in_purpose integer, in_key uuid) returns uuid
language plpgsql security definer set search_path = drs, pg_temp as $$
begin
  insert into account_identity (account) values (in_account) on conflict do nothing;
  insert into account_key (key_id, account, purpose) values (in_key, in_account, in_purpose)
    on conflict (account, purpose) where erased_by is null do nothing;
  return (select key_id from account_key where account = in_account and purpose = in_purpose and erased_by is null);
end
$$;

-- Copies whose erasure waited go with their hold, too.
create or replace function delete_released_copies(in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  deleted bigint;
begin
  perform lock_holds();
  delete from held_event where ctid = any (array(
    select c.ctid from legal_hold h join held_event c on c.hold_id = h.hold_id join purpose u on u.code = c.purpose
      where h.lifted_at is not null and h.secret_destroyed_at is null
        and (c.erased_by is not null or c.received_at + u.raw_retention <= now())
        and not is_held(c.account, c.action_id, c.event_id) limit in_limit));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;

-- The rest of an erasure, which any server finishes; nothing else can be deleted by these. First the ledger's rows of an
-- erased key, which are tombstones by then,
create function delete_erased_keys(in_key uuid, in_names text[]) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  deleted bigint;
begin
  delete from idempotency_key i using account_key k
    where k.key_id = in_key and k.erased_by is not null and i.account = k.account and i.key_id = in_key
      and i.key = any (in_names);
  get diagnostics deleted = row_count;
  update erasure e set idempotency_keys = idempotency_keys + deleted from account_key k
    where k.key_id = in_key and e.sequence = k.erased_by;
  return deleted;
end
$$;

-- then its events, at most so many,
create function delete_erased_events(in_key uuid, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  deleted bigint;
begin
  delete from event e using (
    select x.account, x.purpose, x.received_at, x.event_id from account_key k
      join event x on x.account = k.account and x.purpose = k.purpose and x.key_id = k.key_id
      where k.key_id = in_key and k.erased_by is not null limit in_limit) gone
    where e.account = gone.account and e.purpose = gone.purpose and e.received_at = gone.received_at
      and e.event_id = gone.event_id;
  get diagnostics deleted = row_count;
  update erasure e set events = events + deleted from account_key k
    where k.key_id = in_key and e.sequence = k.erased_by;
  return deleted;
end
$$;

-- and its row, when nothing is left.
create function forget_account_key(in_key uuid) returns void
language sql security definer set search_path = drs, pg_temp as $$
  delete from account_key k where k.key_id = in_key and k.erased_by is not null
    and not exists (select from event e where e.account = k.account and e.purpose = k.purpose and e.key_id = k.key_id)
    and not exists (select from idempotency_key i where i.account = k.account and i.key_id = k.key_id)
$$;

-- Finished is what has no key left to finish. Keeps the receipt of the first who says so.
create function finish_erasure(in_sequence bigint, in_receipt text) returns void
language sql security definer set search_path = drs, pg_temp as $$
  update erasure set finished_at = now(), receipt = in_receipt
    where sequence = in_sequence and finished_at is null
      and not exists (select from account_key where erased_by = in_sequence)
$$;

-- Records that a hold ended with its last copy: an entry of the journal, because a backup of the key store may hold its key.
create function record_ended_hold(in_sequence bigint, in_erasure uuid, in_digest bytea, in_at timestamptz, in_hold uuid)
returns void language plpgsql security definer set search_path = drs, pg_temp as $$
begin
  update legal_hold set secret_destroyed_at = now()
    where hold_id = in_hold and lifted_at is not null and secret_destroyed_at is null
      and not exists (select from held_event where hold_id = in_hold);
  if not found or in_sequence <> (select coalesce(max(sequence), 0) + 1 from erasure) then
    raise exception 'the hold has not ended, or the entry is not the next one' using errcode = 'restrict_violation';
  end if;
  insert into erasure (sequence, erasure_id, entry_digest, kind, began_at, actor, reason, keys)
    select in_sequence, in_erasure, in_digest, 'hold', in_at, lifted_by, lift_reason, array[in_hold]
      from legal_hold where hold_id = in_hold;
end
$$;

-- Forgets tombstones whose replay window is over, at most so many.
create function forget_tombstones(in_window interval, in_limit integer) returns bigint
language plpgsql security definer set search_path = drs, pg_temp as $$
declare
  forgotten bigint;
begin
  delete from tombstone where ctid = any (array(
    select ctid from tombstone where made_at + in_window <= now() order by made_at limit in_limit));
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;

alter table retention_run add column receipt text;

revoke all on function is_erased(uuid), join_epoch(), close_epoch(), lock_journal(),
  record_ended_hold(bigint, uuid, bytea, timestamptz, uuid), ensure_account_key(text, integer, uuid),
  delete_erased_keys(uuid, text[]), delete_erased_events(uuid, integer), forget_account_key(uuid),
  finish_erasure(bigint, text), forget_tombstones(interval, integer) from public;
grant execute on function is_erased(uuid), join_epoch(), close_epoch(), lock_journal(),
  record_ended_hold(bigint, uuid, bytea, timestamptz, uuid), ensure_account_key(text, integer, uuid),
  delete_erased_keys(uuid, text[]), delete_erased_events(uuid, integer), forget_account_key(uuid),
  finish_erasure(bigint, text), forget_tombstones(interval, integer) to drs_service;
grant select on kept_event, event_under_hold, account_key, erasure, refused_account to drs_service;
grant select, insert on account_identity, tombstone to drs_service;
