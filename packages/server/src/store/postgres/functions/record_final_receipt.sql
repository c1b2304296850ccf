-- Records that the last copy that a hold kept of a finished erasure is deleted, with the final receipt. The receipt of
-- the first caller stays.
create or replace function record_final_receipt(in_sequence bigint, in_receipt text) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update erasure set completed_at = transaction_time(), final_receipt = in_receipt
    where sequence = in_sequence and finished_at is not null and held > 0 and completed_at is null
      and not exists (select 1 from held_event where erased_by = in_sequence);
end
$$;
