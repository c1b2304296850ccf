-- Deletes at most `in_limit` rows of each table of counts whose hour began longer ago than `in_retention`.
create or replace function delete_expired_counts(in_retention interval, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  outcomes bigint;
  rejections bigint;
begin
  delete from probe_outcome where ctid = any (array(
    select ctid from probe_outcome
    -- guard(true): counts are kept for their retention period
    where hour < transaction_time() - in_retention
    order by hour limit in_limit));
  get diagnostics outcomes = row_count;
  delete from rejection where ctid = any (array(
    select ctid from rejection
    -- guard(true): counts are kept for their retention period
    where hour < transaction_time() - in_retention
    order by hour limit in_limit));
  get diagnostics rejections = row_count;
  return outcomes + rejections;
end
$$;
