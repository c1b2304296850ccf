-- Deletes at most `in_limit` sessions that have expired. No login may delete a session that has not expired: if its row
-- were inserted again, the session would be active although it had ended.
create or replace function delete_expired_sessions(in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  deleted bigint;
begin
  delete from admin_session where session_id = any (array(
    select session_id from admin_session
    -- guard(true): a session that has ended is kept until it has expired
    where expires_at < transaction_time()
    limit in_limit));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
