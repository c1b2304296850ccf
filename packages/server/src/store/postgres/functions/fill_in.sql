-- A trigger function: sets the columns that it is given, so that the statement, and so a login, can't choose them.
create or replace function fill_in() returns trigger
language plpgsql
set search_path = drs, pg_temp as $$
declare
  name text;
begin
  foreach name in array tg_argv loop
    case name
      when 'written_at' then new.written_at := drs.transaction_time();
      when 'created_at' then new.created_at := drs.transaction_time();
      when 'requested_at' then new.requested_at := drs.transaction_time();
      when 'decided_at' then new.decided_at := drs.transaction_time();
      when 'ended_at' then new.ended_at := drs.transaction_time();
      when 'progress' then new.progress := 0;
      when 'account_id' then new.account_id := gen_random_uuid();
    end case;
  end loop;
  return new;
end
$$;
