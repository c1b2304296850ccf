-- Deletes at most `in_limit` cases that were closed, or expired, longer ago than `in_retention`.
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
    limit in_limit));
  get diagnostics cases = row_count;
  return cases;
end
$$;
