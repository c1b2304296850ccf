-- Keeps rejected requests for the list of the latest ones. Each row of `in_rows` has its age in milliseconds, and the
-- last erasure that its server knew when it rejected the request. A login that calls this can't read the table, change
-- it otherwise, or make it grow beyond its limits.
create or replace function record_recent_rejections(in_rows jsonb) returns void
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  latest bigint;
begin
  -- An erasure deletes the rows that are committed before it, and this call sees the erasures before it.
  perform lock_ingestion_shared();
  -- One call at a time removes rows.
  perform pg_advisory_xact_lock(7236553);
  select coalesce(max(sequence), 0) into latest from erasure;
  insert into recent_rejection (at, account, problem, cause, sdk_version, violations, places, more)
    select transaction_time() - least(greatest(age_ms, 0), 86400000) * interval '1 millisecond', account, problem, cause,
      sdk_version, violations, places, more
    from jsonb_to_recordset(in_rows) as r (age_ms bigint, known_erasure bigint, account text, problem text, cause text,
      sdk_version text, violations text[], places text[], more boolean)
    -- guard(true): what was rejected before an erasure names no account after it
    where account is null or known_erasure >= latest
    order by age_ms desc;
  delete from recent_rejection d using (
      select r.rejection_id, row_number() over (partition by r.account order by r.rejection_id desc) as place
      from recent_rejection r where r.account in (select n ->> 'account' from jsonb_array_elements(in_rows) n)) ranked
    -- guard(false): an account has 20 rows
    where d.rejection_id = ranked.rejection_id and ranked.place > 20;
  delete from recent_rejection
    -- guard(false): strangers do not displace the rows of accounts
    where account is null and rejection_id <= (
      select rejection_id from recent_rejection where account is null order by rejection_id desc offset 2000 limit 1);
  delete from recent_rejection
    -- guard(false): the table has 10,000 rows
    where rejection_id <= (select rejection_id from recent_rejection order by rejection_id desc offset 10000 limit 1);
end
$$;
