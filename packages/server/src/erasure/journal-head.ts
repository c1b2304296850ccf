import type { Executor } from "../store/database.ts";
import { NO_ENTRY } from "./journal.ts";

/** The last entry that the database knows of. */
export async function headOf(executor: Executor): Promise<{ readonly sequence: number; readonly previous: string }> {
  const { rows } = await executor.query<{ sequence: number; digest: string }>(
    "select sequence, encode(entry_digest, 'hex') as digest from erasure order by sequence desc limit 1",
  );
  return { sequence: rows[0]?.sequence ?? 0, previous: rows[0]?.digest ?? NO_ENTRY };
}

export async function installationId(executor: Executor): Promise<string> {
  const { rows } = await executor.query<{ id: string }>("select installation_id as id from installation");
  if (!rows[0]) throw new Error("the database has no installation");
  return rows[0].id;
}
