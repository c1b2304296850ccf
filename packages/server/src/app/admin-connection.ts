/**
 * The admin API's own connections to the events' database: what is slow or cancelled there neither delays ingestion nor
 * counts as a failure of ingestion's database. Their role can read no payload.
 */
import { Monitor } from "../dependencies/monitor.ts";
import type { OnError } from "../ports.ts";
import {
  administrationOptions,
  openPool,
  servingOptions,
  withDeadlineOf,
  withStatementTimeout,
} from "../postgres/database.ts";
import { isTransient, sqlState } from "../postgres/errors.ts";
import { PostgresProbe } from "../postgres/postgres-probe.ts";
import { SQL_STATES } from "../postgres/sql-states.ts";
import type { CloseStack } from "./close-stack.ts";
import type { OpenConnection } from "./connect.ts";

export type AdminConnection = Pick<OpenConnection, "pool" | "database" | "administration">;

/** Opens the connections of the admin API. @param opened closes them. */
export function openAdminConnection(
  { config, database: shared, administration, dependencies }: OpenConnection,
  onError: OnError,
  opened: CloseStack,
): AdminConnection {
  const dependency = dependencies.get("admin_database");
  const { url: connectionString, pool: max } = config.service.admin.database;
  const login = connectionString === undefined ? shared : { connectionString };
  const bound = withStatementTimeout(withDeadlineOf(dependency, login, isAway));
  const database = servingOptions(bound, { role: "drs_admin" });
  const pool = openPool(database, { max, onError });
  opened.add("admin database", () => pool.end());
  const monitor = new Monitor(dependency, new PostgresProbe({ dependency, database }));
  opened.add("monitor of the admin database", () => monitor.close());
  return { pool, database, administration: administrationOptions(withDeadlineOf(dependency, administration, isAway)) };
}

/** A statement that was cancelled, by its time limit or by a person, was answered. */
const isAway = (error: unknown): boolean => isTransient(error) && sqlState(error) !== SQL_STATES.queryCanceled;
