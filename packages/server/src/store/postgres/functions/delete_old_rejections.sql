-- Deletes at most `in_limit` rejected requests of longer ago than `in_retention`. It waits for no other transaction: the
-- writer and an erasure delete rows in other orders, so that two that wait could wait for each other.
create or replace function delete_old_rejections(in_retention interval, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  deleted bigint;
begin
  delete from recent_rejection where rejection_id = any (array(
    select rejection_id from recent_rejection
    -- guard(true): rejected requests are kept for a day
    where at < transaction_time() - in_retention
    order by rejection_id limit in_limit for update skip locked));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
