-- Whether an active hold covers the event.
create or replace function is_held(in_account text, in_action text, in_event uuid) returns boolean
language sql stable as $$
  select exists (select 1 from drs.legal_hold where lifted_at is null and account = in_account)
    or exists (select 1 from drs.legal_hold where lifted_at is null and action_id = in_action)
    or exists (select 1 from drs.legal_hold where lifted_at is null and event_id = in_event)
$$;
