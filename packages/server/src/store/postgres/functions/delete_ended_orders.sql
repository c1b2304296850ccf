-- Deletes orders that have expired and that ended longer ago than `in_retention`, which counts as at least a day.
-- Orders in the state `changed` are kept for 30 days, for `drs doctor`.
create or replace function delete_ended_orders(in_retention interval) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  deleted bigint;
begin
  delete from admin_order
    where (state <> 'changed' or ended_at < transaction_time() - interval '30 days')
    -- guard(true): an order is kept for a time after its end
    and ended_at < transaction_time() - greatest(in_retention, interval '1 day')
    -- guard(true): a signed order that is deleted and inserted again has expired
    and expires_at < transaction_time();
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
