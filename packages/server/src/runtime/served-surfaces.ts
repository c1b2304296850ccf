import { type Surface, SURFACES } from "../store/audit-record/record.ts";
import type { Config } from "../base/config/config.ts";
import type { Readiness } from "../base/dependencies/readiness.ts";
import type { Role } from "../store/postgres/roles.ts";

/** The parts of a server: requests of applications, the admin API, and background work. */
export const SERVED_SURFACES = ["ingest", "admin", "worker"] as const;

export type ServedSurface = (typeof SERVED_SURFACES)[number];

/** The role of a process in the events' database. It has only the privileges that the surfaces of the process need. */
export function roleOf(surfaces: readonly ServedSurface[]): Role {
  if (surfaces.includes("worker")) return "drs_service";
  return surfaces.includes("ingest") ? "drs_ingest" : "drs_admin";
}

/**
 * The surfaces whose audit entries a process may write. For a worker these are all surfaces, because it also writes the
 * entries of orders that it applies.
 */
export const auditSurfacesOf = (surfaces: readonly ServedSurface[]): readonly Surface[] =>
  surfaces.includes("worker") ? SURFACES : surfaces.filter((surface) => surface !== "worker");

/**
 * The settings of a process. A process that serves only the admin API connects only with the login of the admin API, if
 * this login is configured.
 */
export function settingsOf(config: Config, surfaces: readonly ServedSurface[]): Config {
  const { url } = config.service.admin.database;
  if (url === undefined || roleOf(surfaces) !== "drs_admin") return config;
  return { ...config, database: { ...config.database, url } };
}

/** Adds the surfaces to the readiness of a process that does not serve all of them. */
export function withSurfaces(readiness: Readiness, surfaces: readonly ServedSurface[]): Readiness {
  if (surfaces.length === SERVED_SURFACES.length) return readiness;
  return { ...readiness, lines: [...readiness.lines, `serves: ${surfaces.join(", ")}`] };
}
