-- What becomes of a request and of an erasure when the hold that kept a part of it ends.
alter table data_request
  drop constraint data_request_outcome_check,
  add constraint data_request_outcome_check check (outcome in ('done', 'partly', 'refused')),
  add constraint data_request_partly check (outcome is distinct from 'partly' or (identity is not null and erasure_id is not null)),
  -- A request that was closed in part and is done since.
  add column completed_at timestamptz;

-- The receipt of the moment when the last copy that a hold kept of the erasure was gone.
alter table erasure add column completed_at timestamptz, add column final_receipt text;

-- Keeps the receipt of the first caller.
create function complete_erasure(in_sequence bigint, in_receipt text) returns void
language sql security definer set search_path = drs, pg_temp set timezone = 'UTC' as $$
  update erasure set completed_at = now(), final_receipt = in_receipt
    where sequence = in_sequence and finished_at is not null and held > 0 and completed_at is null
      and not exists (select from held_event where erased_by = in_sequence)
$$;
revoke all on function complete_erasure(bigint, text) from public;
grant execute on function complete_erasure(bigint, text) to drs_service;
