/** The admin API as data, and a client of it. */
export type { CallShape } from "./call-shape.ts";
export { CALLS } from "./generated/calls.ts";
export { type AdminClient, type AdminClientOptions, AdminRequestError, createAdminClient, linesOf } from "./client.ts";
export {
  type Permission,
  PERMISSIONS,
  type Role,
  ROLE_NAMES,
  ROLES,
  rolesWith,
  type Scope,
  scopeOf,
} from "./permissions.ts";
export {
  ADMIN_PROBLEMS,
  type AdminProblem,
  adminProblem,
  type AdminProblemCode,
  type AdminViolation,
  describeProblem,
} from "./problems.ts";
export { BASE_PATH, hasProgress, isBytes, isLines, LINES_TYPE, type ProgressLine, type Route } from "./route.ts";
export {
  type Answer,
  BREAK_GLASS_OPERATIONS,
  type Input,
  isRouteId,
  ROUTE_IDS,
  type RouteId,
  routeOf,
  ROUTES,
} from "./routes.ts";
export {
  MAX_DAYS,
  MAX_REJECTION_SUMS,
  MAX_SUMMARY_ROWS,
  OUTCOME_GROUPS,
  type OutcomeGroup,
} from "./routes/counters.ts";
export {
  type AccountExport,
  EXPORT_FILE,
  EXPORT_LANGUAGES,
  type ExportLanguage,
  type ExportPart,
} from "./routes/accounts.ts";
export { BACKUP_STORES, type BackupStore, MAX_LISTED_BACKUPS } from "./routes/backups.ts";
export {
  type EventExportManifest,
  EXPORT_ATTRIBUTES,
  EXPORT_CLOCKS,
  type ExportAttribute,
  type ExportManifest,
  type ExportRecord,
  FEATURE_FORMATS,
  type FeatureExportManifest,
  type FilePart,
  MAX_EVENT_IDS,
  MAX_LABELS_BYTES,
} from "./routes/exports.ts";
export { MAX_WORK_OF_KIND, WORK_KINDS, type WorkRecord } from "./routes/work.ts";
export { MAX_BUCKETS, MAX_COUNTED, MAX_OPENED_TOGETHER, MAX_TAIL } from "./routes/events.ts";
export { CATEGORIES, type Event, FIELD_TYPES, SENSITIVITIES } from "./schemas.ts";
