import type { Dependency } from "../../base/dependencies/dependencies.ts";
import type { Probe } from "../../base/dependencies/monitor.ts";
import { type AbandonedBackend, BoundedClient, IS_IDLE } from "./bounded-client.ts";
import { type DatabaseOptions, monitorOptions } from "./database.ts";
import type { Executor } from "./executor.ts";
import { narrowed, query, sql } from "./statement.ts";

const IS_WRITABLE = sql("select current_setting('transaction_read_only') = 'off' as writable", [], {
  writable: "bool",
});

/**
 * Ends backends that have lost their client. A working backend is ended only if `may_end` is true and it waits for a
 * lock. If a committing backend were ended, its commit would become visible although no synchronous standby has it.
 */
const END_ABANDONED = sql(
  `
  select number, wait_event is not distinct from 'SyncRep' as waits_for_standby,
    case when wait_event is distinct from 'SyncRep' and (${IS_IDLE} or (may_end and wait_event_type = 'Lock'))
      then pg_terminate_backend(pid) else false end as ended
  from unnest($1::int[], $2::numeric[], $3::bool[]) with ordinality as abandoned (pid, connected_at, may_end, number)
    join pg_stat_activity using (pid)
  where extract(epoch from backend_start) <= connected_at and usename = session_user and application_name like 'drs%'`,
  ["int4[]", "numeric[]", "bool[]"],
  { number: narrowed<string>("int8"), waits_for_standby: "bool", ended: "bool" },
);

interface Remaining {
  /** Position in the list that was asked for, from 1. */
  readonly number: string;
  readonly waits_for_standby: boolean;
  readonly ended: boolean;
}

export interface PostgresProbeOptions {
  readonly dependency: Dependency;
  /** Options of the connections that the probe watches. */
  readonly database: DatabaseOptions;
  /**
   * Called at each check. `isNewConnection` is true until a call of `observe` with this connection has succeeded.
   * @throws if the database can't be used.
   */
  readonly observe?: (client: Executor, isNewConnection: boolean) => Promise<void>;
}

/** A separate connection to a PostgreSQL, on which a loss of the connection is noticed at once. */
export class PostgresProbe implements Probe {
  readonly #options: PostgresProbeOptions;
  #client: BoundedClient | undefined;
  #isNew = true;
  #lost: () => void = () => {};

  constructor(options: PostgresProbeOptions) {
    this.#options = options;
    options.database.bound?.abandoned.onAdded(() => this.#lost());
  }

  onConnectionLost(listener: () => void): void {
    this.#lost = listener;
  }

  async ping(): Promise<void> {
    const { dependency, observe } = this.#options;
    const client = this.#client ?? (await this.#connect());
    try {
      const { rows } = await query(client, IS_WRITABLE);
      if (!rows[0]?.writable) {
        dependency.report("away", "is read-only");
        throw new Error("read-only");
      }
      await this.#endAbandoned(client);
    } catch (error) {
      this.#forget(client);
      throw error;
    }
    await observe?.(client, this.#isNew);
    this.#isNew = false;
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #connect(): Promise<BoundedClient> {
    const client = new BoundedClient(monitorOptions(this.#options.database));
    try {
      await client.connect();
      // A pooler's login may have another role by default.
      await client.query("set role none");
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    this.#isNew = true;
    client.on("end", () => {
      if (this.#client !== client) return;
      this.#forget(client);
      // The server stores nothing until it is known which database answers.
      this.#options.dependency.reportUnreachable();
      this.#lost();
    });
    return client;
  }

  #forget(client: BoundedClient): void {
    if (this.#client === client) this.#client = undefined;
    void client.end().catch(() => {});
  }

  async #endAbandoned(client: BoundedClient): Promise<void> {
    const { dependency, database } = this.#options;
    const abandoned = database.bound?.abandoned;
    const asked = abandoned?.all ?? [];
    if (!abandoned || (asked.length === 0 && !dependency.has("stalled"))) return;
    const { rows } = await query(client, END_ABANDONED, [
      asked.map(({ pid }) => pid),
      asked.map(({ connectedAt }) => connectedAt),
      asked.map(({ mayEnd }) => mayEnd),
    ]);
    const remaining = new Map(rows.filter(({ ended }) => !ended).map((row) => [asked[Number(row.number) - 1], row]));
    for (const backend of asked) if (!remaining.has(backend)) abandoned.delete(backend);
    const stalled = [...remaining].filter(([backend, row]) => isStalled(backend, row));
    if (stalled.length === 0) return dependency.resolve("stalled");
    const advice = "is a synchronous standby away? See pg_stat_replication";
    dependency.report("stalled", `commits wait without end (${stalled.length} connections): ${advice}`);
  }
}

/**
 * Whether a remaining backend shows that commits wait without end. A backend that may be ended runs long work, and
 * shows this only if it waits for a standby.
 */
function isStalled(backend: AbandonedBackend | undefined, { waits_for_standby }: Remaining): boolean {
  return waits_for_standby || backend?.mayEnd !== true;
}
