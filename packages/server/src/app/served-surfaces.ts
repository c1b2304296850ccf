import { type Surface, SURFACES } from "../audit/log/record.ts";
import type { Config } from "../config/config.ts";
import type { Readiness } from "../dependencies/readiness.ts";
import type { Role } from "../postgres/roles.ts";

/** The parts of a server: requests of applications, the admin API, and work in the background. */
export const SERVED_SURFACES = ["ingest", "admin", "worker"] as const;

export type ServedSurface = (typeof SERVED_SURFACES)[number];

/** The role of a process in the events' database: no more than its surfaces need. */
export function roleOf(surfaces: readonly ServedSurface[]): Role {
  if (surfaces.includes("worker")) return "drs_service";
  return surfaces.includes("ingest") ? "drs_ingest" : "drs_admin";
}

/** The surfaces whose audit entries a process writes: a worker also writes those of the orders that it applies. */
export const auditSurfacesOf = (surfaces: readonly ServedSurface[]): readonly Surface[] =>
  surfaces.includes("worker") ? SURFACES : surfaces.filter((surface) => surface !== "worker");

/** The settings of a process: one of the admin API alone uses no other login than its own. */
export function settingsOf(config: Config, surfaces: readonly ServedSurface[]): Config {
  const { url } = config.service.admin.database;
  if (url === undefined || roleOf(surfaces) !== "drs_admin") return config;
  return { ...config, database: { ...config.database, url } };
}

/** A process of some surfaces says which. */
export function withSurfaces(readiness: Readiness, surfaces: readonly ServedSurface[]): Readiness {
  if (surfaces.length === SERVED_SURFACES.length) return readiness;
  return { ...readiness, lines: [...readiness.lines, `serves: ${surfaces.join(", ")}`] };
}
