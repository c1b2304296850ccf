import type pg from "pg";
import {
  type EventStore,
  isPartitionMissing,
  type LedgerEntry,
  type NewEvent,
  type OnError,
  type StoredEvent,
  Unavailable,
} from "../../base/ports.ts";
import { type Pseudonymizer, uuidText } from "../crypto/pseudonymizer.ts";
import type { Lane } from "../audit-record/lane.ts";
import { commitBatch, type CommitResult } from "./commit-batch.ts";
import { BoundedClient } from "../postgres/bounded-client.ts";
import { byteaArray, textArray } from "../postgres/binary-array.ts";
import { asUnavailable, constraintOf, isTransient, sqlState } from "../postgres/errors.ts";
import type { DatabaseOptions } from "../postgres/database.ts";
import type { Executor } from "../postgres/executor.ts";
import { SQL_STATES } from "../postgres/sql-states.ts";
import { MicroBatcher } from "../postgres/micro-batcher.ts";
import { type Partitions } from "./partitions.ts";
import { readToCompare } from "./read-events.ts";
import { type ParametersOf, query, sql, type Statement } from "../postgres/statement.ts";

/** Maximum number of events in one transaction. */
const MAX_BATCH_EVENTS = 64;
/** Maximum number of idempotency keys that one statement looks up. */
const MAX_LOOK_UPS = 256;
/** While one batch waits for the disk, another is prepared. */
const MAX_PARALLEL_BATCHES = 2;
/** Maximum time in milliseconds for which an event waits under load, so that other events share its transaction. */
const BATCH_LINGER_MS = 5;
/**
 * Each statement is planned once. Planning again for a batch of another size would cost more than running the
 * statement.
 */
const GENERIC_PLAN_OPTION = "-c plan_cache_mode=force_generic_plan";
const COMMIT_OPERATION = "commit batch";

/** Whether the error says that a row fits no partition. Such an error names no constraint. */
function fitsNoPartition(error: unknown): boolean {
  return sqlState(error) === SQL_STATES.checkViolation && constraintOf(error) === undefined;
}

export interface EventStoreOptions {
  readonly database: DatabaseOptions;
  /** Runs single statements. */
  readonly executor: Executor;
  readonly partitions: Partitions;
  readonly pseudonymizer: Pseudonymizer;
  /** Opens a chain of audit entries for one connection. */
  readonly newLane: () => Lane;
  /**
   * Whether everything that an event needs is available, as far as this process knows. It is false after the first call
   * that finds the database unavailable or read-only, until the database's monitor reports otherwise.
   */
  readonly canStore: () => boolean;
  /** Reads new erasures and accepted losses of secrets, so that a stale event can be sealed again. */
  readonly onStale: () => Promise<void>;
  /** Called when a connection was lost, because events that were sealed before are then stale. */
  readonly onConnectionLost: () => void;
  /** The generation of the data keys in memory. An event that was sealed in another generation is stale. */
  readonly generation: () => number;
  /** Called with errors that the answers to requests describe in general terms only. */
  readonly onError: OnError;
  readonly onBatch: (events: number, seconds: number) => void;
}

/** The result of an event, or the error that kept the event from being stored. */
type Result = CommitResult | Failed;

class Failed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** The limits make the plan read each row by its index, as a join may not. */
const FIND_ENTRIES = sql(
  `select i.event_id, i.purpose, (extract(epoch from i.received_at) * 1000)::float8 as received_ms,
        coalesce(i.request_mac, t.request_mac) as request_mac, t.masked_event_id
      from unnest($1::text[], $2::text[], $3::bytea[]) with ordinality as asked (account, key, name_mac, place)
      left join lateral (select * from idempotency_key
        -- guard(true): idempotency keys belong to accounts
        where account = asked.account
          and key = asked.key limit 1) i on true
      left join lateral (select * from tombstone where name_mac = asked.name_mac limit 1) t on true
      order by asked.place`,
  ["text[]", "text[]", "bytea[]"],
  {
    event_id: "uuid?",
    purpose: "int4?",
    received_ms: "float8?",
    request_mac: "bytea?",
    masked_event_id: "bytea?",
  },
);

interface LedgerKey {
  readonly account: string;
  readonly key: string;
}

/** The events and their ledger in PostgreSQL. */
export class PostgresEventStore implements EventStore {
  readonly #options: EventStoreOptions;
  readonly #clients: (Promise<pg.Client> | undefined)[] = [];
  readonly #batcher: MicroBatcher<NewEvent, Result>;
  readonly #lookUps = new MicroBatcher<LedgerKey, LedgerEntry | undefined>({
    work: (keys) => this.#findEntries(keys),
    maxItems: MAX_LOOK_UPS,
    parallelBatches: MAX_PARALLEL_BATCHES,
  });
  readonly #auditLanes: Lane[] = [];
  #closed = false;

  constructor(options: EventStoreOptions) {
    this.#options = options;
    this.#batcher = new MicroBatcher({
      work: (events, connection) => this.#commit(events, connection),
      maxItems: MAX_BATCH_EVENTS,
      parallelBatches: MAX_PARALLEL_BATCHES,
      linger: BATCH_LINGER_MS,
    });
  }

  get available(): boolean {
    return this.#options.canStore();
  }

  async append(event: NewEvent): Promise<"stored" | "stale" | LedgerEntry> {
    for (;;) {
      const committed = await this.#batcher.add(event);
      if (committed instanceof Failed) throw committed.error;
      if (committed === "stored") return "stored";
      if (committed === "stale") {
        await this.#options.onStale();
        return "stale";
      }
      // The transaction that held the idempotency key has committed or rolled back. After a rollback this event can
      // take the key.
      const entry = await this.findKey(event.account, event.idempotencyKey);
      if (entry) return entry;
    }
  }

  findKey(account: string, key: string): Promise<LedgerEntry | undefined> {
    return this.#lookUps.add({ account, key });
  }

  async findStored(account: string, idempotencyKey: string): Promise<StoredEvent | undefined> {
    return await readToCompare(this.#options.executor, account, idempotencyKey).catch((error: unknown) => {
      const translated = this.#logAndTranslate(error, "read event");
      throw sqlState(error) === SQL_STATES.programLimitExceeded
        ? new Unavailable("retries read too many payloads in this hour", { cause: error })
        : translated;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#clients.map((client) => endWhenOpen(client)));
  }

  async #query<Values extends readonly unknown[], Row>(
    statement: Statement<Values, Row>,
    ...values: ParametersOf<Values>
  ): Promise<Row[]> {
    try {
      return (await query(this.#options.executor, statement, ...values)).rows;
    } catch (error) {
      throw this.#logAndTranslate(error, "read ledger");
    }
  }

  async #findEntries(asked: readonly LedgerKey[]): Promise<readonly (LedgerEntry | undefined)[]> {
    const { pseudonymizer } = this.#options;
    const rows = await this.#query(FIND_ENTRIES, [
      textArray(asked.map(({ account }) => account)),
      textArray(asked.map(({ key }) => key)),
      byteaArray(asked.map(({ account, key }) => pseudonymizer.tombstoneNameOf(account, key))),
    ]);
    return asked.map(({ account, key }, index) => {
      const row = rows[index];
      if (!row?.request_mac) return undefined;
      const { event_id, purpose, received_ms, request_mac: requestMac, masked_event_id } = row;
      if (event_id !== null && purpose !== null && received_ms !== null)
        return { eventId: event_id, requestMac, location: { purpose, receivedAt: received_ms } };
      if (masked_event_id === null) return undefined;
      return { eventId: uuidText(pseudonymizer.mask(account, key, masked_event_id)), requestMac };
    });
  }

  async #commit(events: readonly NewEvent[], connection: number): Promise<readonly Result[]> {
    const started = performance.now();
    try {
      return await this.#commitTogether(events, connection);
    } catch (error) {
      const translated = this.#logAndTranslate(error, COMMIT_OPERATION);
      if (events.length === 1 || (translated instanceof Unavailable && !isPartitionMissing(translated)))
        throw translated;
      return await this.#commitApart(events, connection);
    } finally {
      this.#options.onBatch(events.length, (performance.now() - started) / 1000);
    }
  }

  /** Commits each event in a separate transaction, so that a bad row makes only its own event fail. */
  async #commitApart(events: readonly NewEvent[], connection: number): Promise<readonly Result[]> {
    const results: Result[] = [];
    for (const event of events) {
      const alone = this.#commitTogether([event], connection).then(([result = "taken"]) => result);
      results.push(await alone.catch((error: unknown) => new Failed(this.#logAndTranslate(error, COMMIT_OPERATION))));
    }
    return results;
  }

  async #commitTogether(events: readonly NewEvent[], connection: number): Promise<readonly CommitResult[]> {
    const client = await this.#client(connection);
    // guard(drop): an event that was accepted before a dependency failed is not stored
    this.#requireDependencies();
    const generation = this.#options.generation();
    if (events.some(({ sealed }) => sealed.generation !== generation)) return events.map(() => "stale");
    try {
      return await commitBatch(client, events, this.#options.pseudonymizer, this.#laneOf(connection));
    } catch (error) {
      if (isTransient(error)) this.#drop(connection);
      if (!fitsNoPartition(error)) throw error;
      // The events were not sealed for the new partition.
      for (const { purpose, receivedAt } of events) await this.#options.partitions.ensure(purpose, receivedAt);
      return events.map(() => "stale");
    }
  }

  #laneOf(connection: number): Lane {
    return (this.#auditLanes[connection] ??= this.#options.newLane());
  }

  async #client(connection: number): Promise<pg.Client> {
    if (this.#closed) throw new Unavailable("the event store is closed");
    const client = this.#clients[connection];
    if (client) return client;
    // A new connection may lead to another database, which has not been compared yet.
    this.#requireDependencies();
    return (this.#clients[connection] = this.#connect(connection));
  }

  /** @throws Unavailable */
  #requireDependencies(): void {
    if (!this.#options.canStore()) throw new Unavailable("the database or the key store can't be used");
  }

  async #connect(connection: number): Promise<pg.Client> {
    const { database } = this.#options;
    const options = `${database.options ?? ""} ${GENERIC_PLAN_OPTION}`;
    const client = new BoundedClient({ ...database, options, pipeline: true });
    await client.connect().catch((error: unknown) => {
      this.#clients[connection] = undefined;
      throw error;
    });
    const opened = this.#clients[connection];
    client.on("end", () => {
      if (this.#clients[connection] !== opened) return;
      this.#clients[connection] = undefined;
      this.#options.onConnectionLost();
    });
    return client;
  }

  /** Closes a failed connection, so that it is not used again, even if the client has not detected the failure. */
  #drop(connection: number): void {
    const client = this.#clients[connection];
    if (!client) return;
    this.#clients[connection] = undefined;
    this.#options.onConnectionLost();
    void endWhenOpen(client);
  }

  /** Logs an unexpected or transient error, and returns the error for the request. */
  #logAndTranslate(error: unknown, operation: string): unknown {
    if (error instanceof Unavailable && !isTransient(error)) return error;
    this.#options.onError(error, operation);
    return asUnavailable(error);
  }
}

async function endWhenOpen(opening: Promise<pg.Client> | undefined): Promise<void> {
  const client = await opening?.catch(() => undefined);
  await client?.end().catch(() => {});
}
