import type { System } from "../../runtime/system.ts";
import { PostgresEventStore, type EventStoreOptions } from "./event-store.ts";
import type { NewEvent } from "../../base/ports.ts";
import { TEST_KEY } from "./new-event.fixture.ts";

/** Appends a stale event once more, as the server does after it has sealed the event again for a new partition. */
class TestStore extends PostgresEventStore {
  override async append(event: NewEvent): ReturnType<PostgresEventStore["append"]> {
    const outcome = await super.append(event);
    return outcome === "stale" ? super.append(event) : outcome;
  }
}

/** Opens the event store of a system, and creates the account key that events of `newEvent` use. */
export async function openEventStore(
  system: System,
  options: Partial<EventStoreOptions> = {},
): Promise<PostgresEventStore> {
  await system.pool.query(
    "select ensure_account_keys(array['test-key-owner'], array[null]::bytea[], array[1], array[$1]::uuid[], 0)",
    [TEST_KEY],
  );
  return new TestStore({
    database: system.database,
    executor: system.pool,
    partitions: system.partitions,
    pseudonymizer: system.pseudonymizer,
    newLane: () => system.audit.lane(),
    canStore: () => true,
    onStale: async () => {},
    onConnectionLost: () => {},
    generation: () => 0,
    onError: () => {},
    onBatch: () => {},
    ...options,
  });
}
