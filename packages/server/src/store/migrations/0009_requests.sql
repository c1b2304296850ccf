-- Requests by data subjects (GDPR, articles 15 to 22): what was asked, when it is due, and what came of it.
create table data_request (
  request_id uuid primary key,
  -- Keyed MAC of the account: finds its requests for whoever can name it.
  subject_mac bytea not null,
  -- Stands as long as the request is open.
  account text,
  kind text not null
    check (kind in ('access', 'rectification', 'erasure', 'restriction', 'portability', 'objection')),
  received_at timestamptz not null,
  due_at timestamptz not null,
  -- How it was made sure who asks.
  identity text,
  extension_ground text,
  recorded_by text not null,
  closed_at timestamptz,
  closed_by text,
  outcome text check (outcome in ('done', 'refused')),
  ground text,
  erasure_id uuid references erasure (erasure_id),
  export_id uuid,
  check ((closed_at is null) = (outcome is null)),
  check ((closed_at is null) = (account is not null)),
  check (outcome is distinct from 'refused' or ground is not null),
  check (outcome is distinct from 'done' or identity is not null)
);
create index data_request_subject on data_request (subject_mac);
create index data_request_open on data_request (due_at) where closed_at is null;
-- Changed by the owner's login alone.
grant select on data_request to drs_service;
