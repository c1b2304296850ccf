/**
 * The admin API's own connections to the events' database: what is slow or cancelled there neither delays ingestion nor
 * counts as a failure of ingestion's database.
 */
import { Monitor } from "../dependencies/monitor.ts";
import type { OnError } from "../ports.ts";
import { administrationOptions, openPool, withDeadlineOf, withStatementTimeout } from "../postgres/database.ts";
import { isTransient, sqlState } from "../postgres/errors.ts";
import { PostgresProbe } from "../postgres/postgres-probe.ts";
import { SQL_STATES } from "../postgres/sql-states.ts";
import type { CloseStack } from "./close-stack.ts";
import type { Installation } from "./open-installation.ts";

/** Opens the connections of the admin API. @param opened closes them. */
export function openAdminConnection(installation: Installation, onError: OnError, opened: CloseStack): Installation {
  const { config, database: shared, administration, dependencies } = installation;
  const dependency = dependencies.get("admin_database");
  const database = withStatementTimeout(withDeadlineOf(dependency, shared, isAway));
  const pool = openPool(database, { max: config.service.admin.database.pool, onError });
  opened.add("admin database", () => pool.end());
  const monitor = new Monitor(dependency, new PostgresProbe({ dependency, database }));
  opened.add("monitor of the admin database", () => monitor.close());
  const owner = administrationOptions(withDeadlineOf(dependency, administration, isAway));
  return { ...installation, database, pool, administration: owner };
}

/** A statement that was cancelled, by its time limit or by a person, was answered. */
const isAway = (error: unknown): boolean => isTransient(error) && sqlState(error) !== SQL_STATES.queryCanceled;
