-- Why events are kept, and for how long. A purpose that was in use stays: it can be retired, not removed.
alter table purpose
  add column legal_basis text,
  add column owner text,
  -- Counted from `received_at`, as calendar arithmetic in UTC. Null: kept without end, as before a policy was applied.
  add column raw_retention interval check (raw_retention > interval '0'),
  add column derived_retention interval check (derived_retention > interval '0'),
  -- What of an event the purpose covers; null: all. An event is kept exactly, so what is beyond is recorded or refused.
  add column probes text[],
  add column highest_sensitivity text check (highest_sensitivity in ('low', 'medium', 'high')),
  add column beyond text not null default 'record' check (beyond in ('record', 'refuse')),
  add column retired_at timestamptz;

-- Each policy that was applied, as it was read. The latest is in force; events keep the purpose they came under.
create table policy (
  version integer primary key check (version > 0),
  applied_at timestamptz not null,
  actor text not null,
  -- Purpose of an action type that is not mapped; null: such events are refused.
  unmapped integer references purpose (code),
  document jsonb not null
);
create trigger policy_is_immutable before update on policy for each row execute function refuse_change();

create table purpose_mapping (
  policy_version integer not null references policy (version),
  action_type text not null check (char_length(action_type) between 1 and 64),
  purpose integer not null references purpose (code),
  primary key (policy_version, action_type)
);
create trigger purpose_mapping_is_immutable before update on purpose_mapping
  for each row execute function refuse_change();

-- A policy is changed by the owner's login alone: whoever takes over a server must not shorten what is kept.
grant select on policy, purpose_mapping to drs_service;
