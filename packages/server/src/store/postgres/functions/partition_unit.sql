-- The unit of time of new partitions: at most about 200 partitions of a purpose for periods of up to 16 years, and 12 a
-- year for longer periods.
create or replace function partition_unit(in_period interval) returns text
language sql immutable as $$
  select case when in_period < interval '7 days' then 'hour' when in_period <= interval '200 days' then 'day'
    when in_period <= interval '4 years' then 'week' else 'month' end
$$;
