import type { System } from "../operations/system.ts";
import { PostgresEventStore, type EventStoreOptions } from "./event-store.ts";
import { TEST_KEY } from "./new-event.fixture.ts";

/** The store of a system, whose events of `newEvent` are under a key that is not erased. */
export async function openEventStore(
  system: System,
  options: Partial<EventStoreOptions> = {},
): Promise<PostgresEventStore> {
  await system.pool.query("select ensure_account_key('nobody', 1, $1)", [TEST_KEY]);
  return new PostgresEventStore({
    database: system.database,
    executor: system.pool,
    partitions: system.partitions,
    names: system.names,
    onStale: async () => {},
    onFault: () => {},
    onBatch: () => {},
    ...options,
  });
}
