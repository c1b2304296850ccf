-- Deletes at most `in_limit` tombstones whose replay window is over.
create or replace function delete_expired_tombstones(in_window interval, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  forgotten bigint;
begin
  delete from tombstone where ctid = any (array(
    select ctid from tombstone where made_at + in_window <= transaction_time() order by made_at limit in_limit));
  get diagnostics forgotten = row_count;
  if forgotten > 0 then
    insert into retention_effect (keys) values (forgotten);
  end if;
  return forgotten;
end
$$;
