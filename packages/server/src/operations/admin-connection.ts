/**
 * The admin API's own connections to the events' database. A slow or cancelled statement on these connections neither
 * delays ingestion nor makes the database count as unavailable. Their role can't read payloads.
 */
import type { Pool } from "pg";
import { Monitor } from "../base/dependencies/monitor.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { OnError } from "../base/ports.ts";
import {
  administrationOptions,
  openPool,
  servingOptions,
  withDeadlineOf,
  withStatementTimeout,
} from "../store/postgres/database.ts";
import { isTransient, sqlState } from "../store/postgres/errors.ts";
import { PostgresProbe } from "../store/postgres/postgres-probe.ts";
import { requireSettings } from "../store/postgres/session-settings.ts";
import { SQL_STATES } from "../store/postgres/sql-states.ts";
import type { CloseStack } from "../runtime/close-stack.ts";
import { databaseAt, type OpenConnection } from "../runtime/connect.ts";

const ADMIN_ROLE = "drs_admin";

export type AdminConnection = Pick<OpenConnection, "pool" | "database" | "administration">;

/**
 * Opens the connections of the admin API. @param opened closes them.
 * @throws schema-outdated if the login of the admin API lacks the role. @throws pooler-unsupported
 */
export async function openAdminConnection(
  shared: Pick<OpenConnection, "administration" | "config" | "database" | "dependencies">,
  onError: OnError,
  opened: CloseStack,
): Promise<AdminConnection> {
  const { config, administration, dependencies } = shared;
  const dependency = dependencies.get("admin_database");
  const { url: connectionString, pool: max } = config.service.admin.database;
  const login = connectionString === undefined ? shared.database : databaseAt(config, "service.admin.database.url");
  const bound = withStatementTimeout(withDeadlineOf(dependency, login, isAway));
  const database = servingOptions(bound, { role: ADMIN_ROLE });
  const pool = openPool(database, { max, onError });
  opened.add("admin database", () => pool.end());
  // guard(drop): a login of the admin API with another role is no boundary
  if (connectionString !== undefined) await requireRole(pool);
  const monitor = new Monitor(dependency, new PostgresProbe({ dependency, database }));
  opened.add("monitor of the admin database", () => monitor.close());
  return { pool, database, administration: administrationOptions(withDeadlineOf(dependency, administration, isAway)) };
}

async function requireRole(pool: Pool): Promise<void> {
  await requireSettings(pool, { role: ADMIN_ROLE }).catch((error: unknown) => {
    if (!LACKS_ROLE.has(sqlState(error))) throw error;
    const detail = `the login of DRS_ADMIN_DATABASE_URL lacks the role ${ADMIN_ROLE}: run drs migrate`;
    throw new OperatorError("schema-outdated", detail, { cause: error });
  });
}

/** SQLSTATEs of a connection whose login does not have the requested role. */
const LACKS_ROLE = new Set<string | undefined>([SQL_STATES.invalidParameterValue, SQL_STATES.insufficientPrivilege]);

/** Whether the database did not answer. A cancelled statement counts as answered. */
const isAway = (error: unknown): boolean => isTransient(error) && sqlState(error) !== SQL_STATES.queryCanceled;
