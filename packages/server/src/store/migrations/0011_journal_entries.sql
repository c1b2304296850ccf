-- What the database has applied of the erasure journal: erasures, and orders about holds.
create table journal_entry (
  sequence bigint primary key check (sequence > 0),
  kind text not null check (kind in ('account', 'purpose', 'action', 'event', 'hold', 'hold-placed', 'hold-reviewed',
    'hold-lifted', 'loss')),
  -- SHA-256 of the entry's text.
  entry_digest bytea not null,
  applied_at timestamptz not null default now(),
  -- An operator stated that the journal has lost the entry for good.
  loss_accepted_at timestamptz,
  loss_accepted_by text,
  loss_reason text,
  check (num_nulls(loss_accepted_at, loss_accepted_by, loss_reason) in (0, 3))
);
insert into journal_entry (sequence, kind, entry_digest, applied_at)
  select sequence, kind, entry_digest, began_at from erasure;
alter table erasure drop column entry_digest, add foreign key (sequence) references journal_entry (sequence);
grant select on journal_entry to drs_service;

-- The subject of a hold that the journal gave back after a restore is a keyed MAC until an account or action is found that
-- has it: `subject_kind` and `subject_mac` say what to look for.
alter table legal_hold
  add column subject_kind text check (subject_kind in ('account', 'action_id')),
  add column subject_mac bytea,
  drop constraint legal_hold_check,
  add constraint legal_hold_subject check (
    num_nonnulls(account, action_id, event_id) = 1
    or (num_nonnulls(account, action_id, event_id) = 0 and subject_kind is not null)),
  add constraint legal_hold_mac check ((subject_kind is null) = (subject_mac is null));

create or replace function record_ended_hold(in_sequence bigint, in_erasure uuid, in_digest bytea, in_at timestamptz,
  in_hold uuid) returns void
language plpgsql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update legal_hold set secret_destroyed_at = now()
    where hold_id = in_hold and lifted_at is not null and secret_destroyed_at is null
      and not exists (select from held_event where hold_id = in_hold);
  if not found or in_sequence <> (select coalesce(max(sequence), 0) + 1 from journal_entry) then
    raise exception 'the hold has not ended, or the entry is not the next one' using errcode = 'restrict_violation';
  end if;
  insert into journal_entry (sequence, kind, entry_digest) values (in_sequence, 'hold', in_digest);
  insert into erasure (sequence, erasure_id, kind, began_at, actor, reason, keys)
    select in_sequence, in_erasure, 'hold', in_at, lifted_by, lift_reason, array[in_hold]
      from legal_hold where hold_id = in_hold;
end
$$;
