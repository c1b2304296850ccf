-- Records that an erasure is finished, with its receipt, if no account key of it is left. The receipt of the first
-- caller stays.
create or replace function finish_erasure(in_sequence bigint, in_receipt text) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
begin
  update erasure set finished_at = transaction_time(), receipt = in_receipt
    where sequence = in_sequence and finished_at is null
      and not exists (select 1 from account_key where erased_by = in_sequence);
end
$$;
