import type pg from "pg";

/** The number of purposes to which the partitions of `makePartitions` belong. */
const PURPOSES = 20;

/**
 * Makes partitions of a day for each purpose, from today backwards, until there are at least `partitions` of events,
 * and as many of feature values.
 */
export async function makePartitions(owner: pg.Client, partitions: number): Promise<void> {
  await owner.query(
    `insert into purpose (code, id, title) select code, 'purpose-' || code, 'Purpose' from generate_series(2, ${PURPOSES}) code`,
  );
  await owner.query("set synchronous_commit = off");
  await owner.query(`
    do $$
    declare
      lower_at timestamptz;
      name text;
    begin
      for day in 0..${Math.ceil(partitions / PURPOSES) - 1} loop
        lower_at := date_trunc('day', drs.transaction_time()) - make_interval(days => day);
        for code in 1..${PURPOSES} loop
          name := format('event_p%s_%s', code, to_char(lower_at, 'YYYYMMDD'));
          execute format('create table %I partition of event for values from (%L, %L) to (%L, %L)',
            name, code, lower_at, code, lower_at + interval '1 day');
          insert into event_partition (purpose, lower_bound, upper_bound, table_name)
            values (code, lower_at, lower_at + interval '1 day', name);
          name := format('feature_p%s_%s', code, to_char(lower_at, 'YYYYMMDD'));
          execute format('create table %I partition of feature_row for values from (%L, %L) to (%L, %L)',
            name, code, lower_at, code, lower_at + interval '1 day');
          insert into feature_partition (purpose, lower_bound, upper_bound, table_name)
            values (code, lower_at, lower_at + interval '1 day', name);
        end loop;
        -- One transaction for all partitions would need more locks than the server has.
        commit;
      end loop;
    end
    $$`);
}
