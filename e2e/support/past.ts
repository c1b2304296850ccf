import type pg from "pg";

let moves = 0;

/**
 * Moves everything that is stored into the past, as if it had come so much earlier. Only the owner can, and only without
 * the triggers.
 */
export async function moveIntoThePast(owner: pg.Client, hours: number): Promise<void> {
  // No two sets of moves have the same sum: a partition never arrives where another one is or was.
  const past = `interval '${hours} hours ${2 ** ++moves} milliseconds'`;
  const { rows } = await owner.query<{ table_name: string; lower: string; upper: string; purpose: number }>(
    `select table_name, purpose, (lower_bound - ${past})::text as lower, (upper_bound - ${past})::text as upper
     from event_partition where dropped_at is null order by lower_bound`,
  );
  const shift = `received_at = received_at - ${past}`;
  await owner.query("begin");
  await owner.query("alter table event disable trigger event_is_immutable");
  await owner.query("alter table idempotency_key disable trigger idempotency_key_is_immutable");
  const moved = rows.map((row, index) => ({ ...row, name: `aged_${moves}_${index}` }));
  for (const { table_name, name } of moved) {
    await owner.query(`alter table event detach partition ${table_name}`);
    await owner.query(`update ${table_name} set ${shift}`);
    await owner.query(`alter table ${table_name} rename to ${name}`);
  }
  for (const { table_name, name, purpose, lower, upper } of moved) {
    await owner.query(
      `alter table event attach partition ${name} for values from (${purpose}, '${lower}') to (${purpose}, '${upper}')`,
    );
    await owner.query(
      "update event_partition set lower_bound = $2, upper_bound = $3, table_name = $4 where table_name = $1",
      [table_name, lower, upper, name],
    );
  }
  await owner.query(`update idempotency_key set ${shift}`);
  await owner.query("alter table event enable trigger event_is_immutable");
  await owner.query("alter table idempotency_key enable trigger idempotency_key_is_immutable");
  await owner.query("commit");
}
