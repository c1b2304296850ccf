-- Records that the secrets of a lifted hold without copies are destroyed, and the journal entry about this. The journal
-- has the entry because a backup of the key store may have the secrets.
create or replace function record_ended_hold(
  in_sequence bigint, in_erasure uuid, in_digest bytea, in_at timestamptz, in_hold uuid)
returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update legal_hold set secret_destroyed_at = transaction_time()
    where hold_id = in_hold and lifted_at is not null and secret_destroyed_at is null
      -- guard(true): a hold ends with its last copy
      and not exists (select 1 from held_event where hold_id = in_hold);
  if not found
      -- guard(false): entries are numbered without a gap
      or in_sequence <> (select coalesce(max(sequence), 0) + 1 from journal_entry) then
    raise exception 'the hold has not ended, or the entry is not the next one' using errcode = 'restrict_violation';
  end if;
  insert into journal_entry (sequence, kind, entry_digest) values (in_sequence, 'hold', in_digest);
  insert into erasure (sequence, erasure_id, kind, began_at, actor, reason, keys)
    select in_sequence, in_erasure, 'hold', in_at, lifted_by, lift_reason, hold_id || later_secrets
      from legal_hold where hold_id = in_hold;
end
$$;
