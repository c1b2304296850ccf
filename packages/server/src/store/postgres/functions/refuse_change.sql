-- A trigger function for tables whose rows are immutable.
create or replace function refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is immutable', tg_table_name using errcode = 'restrict_violation';
end
$$;
