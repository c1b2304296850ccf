import type { Dependency } from "../dependencies/dependencies.ts";
import type { Probe } from "../dependencies/monitor.ts";
import { BoundedClient } from "./bounded-client.ts";
import { type DatabaseOptions, monitorOptions } from "./database.ts";

const PING = "select current_setting('transaction_read_only') = 'off' as writable";

/** Ends abandoned backends that have lost their client; those that wait for a commit can't be ended without harm. */
const END_ABANDONED = `
  select pid, case when state <> 'active' or pid = any ($2::int[]) then pg_terminate_backend(pid) else false end as ended
  from pg_stat_activity where pid = any ($1::int[]) and usename = session_user and application_name like 'drs%'`;

export interface PostgresProbeOptions {
  readonly dependency: Dependency;
  /** Options of the connections that the probe watches. */
  readonly database: DatabaseOptions;
  /** Called on each new connection, and while the dependency is reported as lacking. @throws where it can't be used. */
  readonly check?: () => Promise<void>;
}

/** A connection of its own to a PostgreSQL, by which a loss is noticed at once. */
export class PostgresProbe implements Probe {
  readonly #options: PostgresProbeOptions;
  #client: BoundedClient | undefined;
  #isChecked = false;
  #lost: () => void = () => {};

  constructor(options: PostgresProbeOptions) {
    this.#options = options;
    options.database.bound?.abandoned.onAdded(() => this.#lost());
  }

  onLost(listener: () => void): void {
    this.#lost = listener;
  }

  async ping(): Promise<void> {
    const { dependency, check } = this.#options;
    const client = this.#client ?? (await this.#connect());
    try {
      const { rows } = await client.query<{ writable: boolean }>(PING);
      if (!rows[0]?.writable) {
        dependency.report("away", "is read-only");
        throw new Error("read-only");
      }
      await this.#endAbandoned(client);
    } catch (fault) {
      this.#forget(client);
      throw fault;
    }
    if (this.#isChecked && !dependency.has("lacking")) return;
    await check?.();
    this.#isChecked = true;
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
    } catch (fault) {
      await client.end().catch(() => {});
      throw fault;
    }
    this.#client = client;
    this.#isChecked = false;
    client.on("end", () => {
      if (this.#client !== client) return;
      this.#forget(client);
      // Until it is known which database answers, nothing is stored.
      this.#options.dependency.reportAway();
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
    if (!abandoned || (abandoned.pids.length === 0 && !dependency.has("held"))) return;
    const { rows } = await client.query<{ pid: number; ended: boolean }>(END_ABANDONED, [
      abandoned.pids,
      abandoned.mayEnd,
    ]);
    const working = rows.filter(({ ended }) => !ended).map(({ pid }) => pid);
    abandoned.retain(new Set(working));
    if (working.length === 0) dependency.resolve("held");
    else {
      const advice = "is a synchronous standby away? See pg_stat_replication";
      dependency.report("held", `commits wait without end (${working.length} connections): ${advice}`);
    }
  }
}
