-- Deletes at most `in_limit` identities, with the names of their people, whose last sign-in is longer ago than
-- `in_retention`, unless a session of theirs is active.
create or replace function delete_unused_identities(in_retention interval, in_limit integer) returns bigint
language plpgsql security definer
set search_path = drs, pg_temp set timezone = 'UTC' as $$
declare
  deleted bigint;
begin
  delete from signed_in_identity where identity = any (array(
    select identity from signed_in_identity i
    -- guard(true): the name of a person is kept for its retention period
    where signed_in_at < transaction_time() - in_retention
      -- guard(true): a person who is signed in keeps their name
      and not exists (select 1 from admin_session s
        where s.identity = i.identity and s.ended_at is null and s.expires_at > transaction_time())
    limit in_limit));
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
