/** The system that a server and every embedding host open: an installation that is up to date and may be served. */
import type { Config, Environment } from "../base/config/config.ts";
import { requireSecrets } from "../lifecycle/recovery/installation.ts";
import type { Clock, OnError } from "../base/ports.ts";
import { type DatabaseIdentity, identifyDatabase } from "../store/postgres/database-identity.ts";
import { CloseStack } from "./close-stack.ts";
import { connect } from "./connect.ts";
import { type Installation, openInstallation } from "./open-installation.ts";
import { requireOwnCheckpoints } from "./require-one-installation.ts";
import { openRecovery, type Recovery } from "./recover.ts";
import { auditSurfacesOf, roleOf, SERVED_SURFACES, type ServedSurface, settingsOf } from "./served-surfaces.ts";

export interface System extends Installation, Recovery {
  /** The surfaces that this process serves. */
  readonly surfaces: readonly ServedSurface[];
  /** The identity of the database that was compared with the erasure journal at start. */
  readonly identity: DatabaseIdentity;
  /** Names of the resources that are being closed, for messages. */
  readonly closing: Set<string>;
  /** Closes everything. Never rejects. */
  close(): Promise<void>;
}

export interface OpenSystemOptions {
  readonly clock: Clock;
  readonly asServer: boolean;
  /** Whether an outdated schema is migrated, which only a worker can do. Default: true. */
  readonly migrates?: boolean;
  /** The surfaces that the process serves. Default: all. */
  readonly surfaces?: readonly ServedSurface[];
  /**
   * The surfaces of the supervisor of this process. The supervisor runs the embedded database and has the login of all
   * surfaces. Absent if the process has no supervisor.
   */
  readonly supervisedWith?: readonly ServedSurface[];
  /** The variables of this process, which are passed to the command that prints keys. */
  readonly environment: Environment;
  readonly onError: OnError;
}

export async function openSystem(config: Config, options: OpenSystemOptions): Promise<System> {
  const {
    surfaces = SERVED_SURFACES,
    supervisedWith,
    clock,
    asServer,
    migrates = true,
    environment,
    onError,
  } = options;
  const closing = new Set<string>();
  await using opened = new CloseStack(onError, closing);
  const works = surfaces.includes("worker");
  const isSupervised = supervisedWith !== undefined;
  const connecting = { access: "change", clock, asServer, isSupervised, environment, onError } as const;
  const connection = await connect(
    settingsOf(config, surfaces),
    { ...connecting, migrates: migrates && works, role: roleOf(supervisedWith ?? surfaces) },
    opened,
  );
  if (!works) await requireSecrets(connection.pool);
  const identity = await identifyDatabase(connection.pool);
  const installation = await openInstallation(connection);
  await requireOwnCheckpoints(config, installation.checkpointSinks, installation.codec.installation);
  installation.audit.requireKeys(auditSurfacesOf(surfaces));
  const recovery = await openRecovery(installation, works);
  return {
    ...installation,
    ...recovery,
    surfaces,
    identity,
    closing,
    close: opened.release(),
  };
}
