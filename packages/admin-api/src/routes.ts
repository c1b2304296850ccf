import type { AnswersOf, InputsOf, Route } from "./route.ts";
import { ACCOUNT_ROUTES } from "./routes/accounts.ts";
import { ACTION_ROUTES } from "./routes/actions.ts";
import { ADMIN_TOKEN_ROUTES } from "./routes/admin-tokens.ts";
import { APPROVAL_ROUTES } from "./routes/approvals.ts";
import { AUDIT_ROUTES } from "./routes/audit.ts";
import { BACKFILL_ROUTES } from "./routes/backfills.ts";
import { BACKUP_ROUTES } from "./routes/backups.ts";
import { CASE_ROUTES } from "./routes/cases.ts";
import { COUNTER_ROUTES } from "./routes/counters.ts";
import { DRIFT_ROUTES } from "./routes/drift.ts";
import { EVENT_ROUTES } from "./routes/events.ts";
import { EXPORT_ROUTES } from "./routes/exports.ts";
import { FEATURE_LINEAGE_ROUTES } from "./routes/feature-lineage.ts";
import { FEATURE_ROUTES } from "./routes/features.ts";
import { PEOPLE_ROUTES } from "./routes/people.ts";
import { PURPOSE_ROUTES } from "./routes/purposes.ts";
import { HEALTH_ROUTES } from "./routes/health.ts";
import { HOLD_ROUTES } from "./routes/holds.ts";
import { ERASURE_ROUTES } from "./routes/erasures.ts";
import { KEY_ROUTES } from "./routes/keys.ts";
import { RECEIPT_ROUTES } from "./routes/receipts.ts";
import { REQUEST_ROUTES } from "./routes/requests.ts";
import { RESTRICTION_ROUTES } from "./routes/restrictions.ts";
import { RETENTION_ROUTES } from "./routes/retention.ts";
import { SESSION_TOKEN_ROUTES } from "./routes/session-tokens.ts";
import { SESSION_ROUTES } from "./routes/session.ts";
import { WORK_ROUTES } from "./routes/work.ts";

/** Every route of the admin API by its operation id. */
export const ROUTES = {
  ...SESSION_ROUTES,
  ...HEALTH_ROUTES,
  ...WORK_ROUTES,
  ...EVENT_ROUTES,
  ...CASE_ROUTES,
  ...APPROVAL_ROUTES,
  ...AUDIT_ROUTES,
  ...PEOPLE_ROUTES,
  ...ADMIN_TOKEN_ROUTES,
  ...SESSION_TOKEN_ROUTES,
  ...ACTION_ROUTES,
  ...PURPOSE_ROUTES,
  ...DRIFT_ROUTES,
  ...FEATURE_ROUTES,
  ...BACKFILL_ROUTES,
  ...FEATURE_LINEAGE_ROUTES,
  ...EXPORT_ROUTES,
  ...COUNTER_ROUTES,
  ...HOLD_ROUTES,
  ...RESTRICTION_ROUTES,
  ...RECEIPT_ROUTES,
  ...RETENTION_ROUTES,
  ...REQUEST_ROUTES,
  ...ACCOUNT_ROUTES,
  ...ERASURE_ROUTES,
  ...KEY_ROUTES,
  ...BACKUP_ROUTES,
} as const satisfies Readonly<Record<string, Route>>;

export type RouteId = keyof typeof ROUTES;
/** `Inputs` and `Answers` are interfaces, so that the compiler computes the types of each route only once. */
interface Inputs extends InputsOf<typeof ROUTES> {}
interface Answers extends AnswersOf<typeof ROUTES> {}
export type Input<Id extends RouteId> = Inputs[Id];
export type Answer<Id extends RouteId> = Answers[Id];

export const ROUTE_IDS = Object.keys(ROUTES) as readonly RouteId[];

export const routeOf = (id: RouteId): Route => ROUTES[id];

export const isRouteId = (text: string): text is RouteId => Object.hasOwn(ROUTES, text);

/**
 * Operations for which a command on an external database always needs `--break-glass`, by their names in audit entries.
 */
export const BREAK_GLASS_OPERATIONS: readonly string[] = ROUTE_IDS.map(routeOf)
  .filter(({ breakGlass }) => breakGlass === true)
  .map(({ operation }) => operation);
