/** Opens what a command needs to work on the database. Only commands that do so import this file when they run. */
import { pino } from "pino";
import type { Config } from "../base/config/config.ts";
import { hasCodeOfArea } from "../base/errors/operator-error.ts";
import type { OnError } from "../base/ports.ts";
import { CloseStack } from "../runtime/close-stack.ts";
import { type Access, connect, type OpenConnection, requireOwner } from "../runtime/connect.ts";
import { createErrorLog } from "../runtime/error-log.ts";
import { type Installation, openInstallation } from "../runtime/open-installation.ts";
import { type Context, loadConfig } from "./context.ts";
import { requireLocal } from "./login.ts";

/**
 * Runs work on the events' database, whether or not the server runs. Afterwards an embedded database is stopped, unless
 * another process uses it.
 * @throws schema-outdated if the schema is outdated; access-denied if `isBreakGlass` is set and the login is not the
 * owner's.
 */
export async function withConnection<T>(
  context: Context,
  access: Access,
  work: (connection: OpenConnection) => Promise<T>,
): Promise<T> {
  requireLocal(context);
  const config = loadConfig(context);
  const { isBreakGlass = false } = context;
  return withCloseStack(context, config, async (opened, onError) => {
    const connection = await openConnection(context, config, access, onError, opened);
    // guard(drop): --break-glass needs the owner's login
    if (isBreakGlass) await requireOwner(connection.administration);
    // The access is `change`, because the command signs a checkpoint at its end.
    return work(isBreakGlass ? { ...connection, access: "change" } : connection);
  });
}

/**
 * Opens the connection for a command. If a signal ends the command, its calls to dependencies are ended, because the
 * program that prints the key-encryption key would otherwise continue to run.
 */
export async function openConnection(
  { environment, clock, onInterrupt }: Context,
  config: Config,
  access: Access,
  onError: OnError,
  opened: CloseStack,
): Promise<OpenConnection> {
  const options = { access, clock, asServer: false, migrates: false, environment, onError };
  const connection = await connect(config, options, opened);
  onInterrupt(() => connection.dependencies.abandon());
  return connection;
}

/** Runs work that opens parts of the system, and closes these parts afterwards. */
export async function withCloseStack<T>(
  { stderr }: Context,
  { service: { logLevel: level } }: Config,
  work: (opened: CloseStack, onError: OnError) => Promise<T>,
): Promise<T> {
  const logger = pino({ level: level === "silent" ? "silent" : "error" }, stderr as never);
  const log = createErrorLog(logger);
  const onError: OnError = (error, operation) => {
    if (!hasCodeOfArea(error, "embedded-postgres")) log(error, operation);
  };
  await using opened = new CloseStack(onError);
  return await work(opened, onError);
}

/** Runs `work` with the connection of `withConnection`, the key store and the erasure journal. */
export function withInstallation<T>(
  context: Context,
  access: Access,
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  return withConnection(context, access, async (connection) => work(await openInstallation(connection)));
}
