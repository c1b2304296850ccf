-- A purpose that a policy left out without periods has the shortest ones, so that its empty partitions are
-- dropped; lists do not show a period that no policy gave.
alter table purpose add column assumed_periods boolean not null default false;
