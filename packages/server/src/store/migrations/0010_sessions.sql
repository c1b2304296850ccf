-- What the functions of the owner decide is not for the caller's session to say. Their days are days of UTC. And after a
-- lock, the next statement sees what was committed before it was had: READ COMMITTED alone gives that.
create function require_read_committed() returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'this needs the isolation level read committed' using errcode = 'invalid_transaction_state';
  end if;
end
$$;

create or replace function lock_holds() returns void language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236519);
end
$$;

create or replace function close_epoch() returns void language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236520);
end
$$;

create or replace function lock_journal() returns void language plpgsql as $$
begin
  perform drs.require_read_committed();
  perform pg_advisory_xact_lock(7236521);
end
$$;

revoke all on function require_read_committed() from public;
grant execute on function require_read_committed() to drs_service;

do $$
declare
  owned regprocedure;
begin
  for owned in select oid from pg_proc where pronamespace = 'drs'::regnamespace and prosecdef loop
    execute format('alter function %s set timezone = %L', owned, 'UTC');
  end loop;
end
$$;

alter table erasure
  -- Copies of holds that went with it: their keys may open copies of others.
  add column copies bigint not null default 0,
  -- Events under a hold that could not be opened, and so not be copied: they went.
  add column unreadable bigint not null default 0;
