-- Deletes at most `in_limit` cases that were closed, or expired, longer ago than `in_retention`, and cases of erased
-- accounts of which no held copy is left: such a copy can be opened after the erasure, with a case that names the account.
create or replace function delete_ended_cases(in_retention interval, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  cases bigint;
begin
  delete from access_case where case_id = any (array(
    select case_id from access_case
    -- guard(true): cases are kept for their retention period
    where least(closed_at, expires_at) < transaction_time() - in_retention
      -- guard(false): a case of a held copy of an erased account is deleted with the copy
      or events_opened > 0 and account is not null
        and not exists (select 1 from account_identity i where i.account = access_case.account)
        and not exists (select 1 from held_event c where c.account = access_case.account)
    limit in_limit));
  get diagnostics cases = row_count;
  return cases;
end
$$;
