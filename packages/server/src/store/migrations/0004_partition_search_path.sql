-- Temporary tables come first in a search path that does not name them. A serving login could make one called
-- `event_partition`, with a trigger of its own, and have it run by the owner.
alter function ensure_event_partition(integer, timestamptz) set search_path = drs, pg_temp;
