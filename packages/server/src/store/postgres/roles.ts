/** The group roles of logins: what a process or a command may do in the events' database. */
export const ROLES = {
  drs_service: "servers of all surfaces, workers and commands",
  drs_ingest: "servers of ingestion alone",
  drs_admin: "the admin API",
} as const;

export type Role = keyof typeof ROLES;

export const ROLE_NAMES = Object.keys(ROLES) as readonly Role[];
