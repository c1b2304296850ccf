/**
 * The permissions of each role: `ROLES` and `PERMISSIONS`. The table of `docs/permissions.md`, the checks of the server
 * and the tests of every route with every role derive from them.
 */

/** Roles of people and of admin tokens. A caller may have several. No role has every permission. */
export const ROLES = {
  operator: "keeps the service running: health, capacity, session tokens, actions",
  analyst: "studies events and counters, reviews drift, reads fields of low and medium sensitivity",
  investigator: "investigates cases: opens single events with a case",
  privacy: "answers for personal data: purposes, holds, erasures, requests of data subjects",
  auditor: "checks what the others did; changes nothing but reviews of it",
} as const;

export type Role = keyof typeof ROLES;

export const ROLE_NAMES = Object.keys(ROLES) as readonly Role[];

/**
 * What a permission covers for a role. `full`: everything; `with-approval`: what another person of the role privacy
 * approves; `pseudonyms`: accounts and sessions as pseudonyms; `low-and-medium`: fields of low and medium sensitivity;
 * `without-values`: everything but values of features; `own`: what the caller did.
 */
export type Scope = "full" | "with-approval" | "pseudonyms" | "low-and-medium" | "without-values" | "own";

interface PermissionDefinition {
  /** A phrase that completes "may …". */
  readonly meaning: string;
  readonly roles: Partial<Readonly<Record<Role, Scope>>>;
}

const everyRole = {
  operator: "full",
  analyst: "full",
  investigator: "full",
  privacy: "full",
  auditor: "full",
} as const;

export const PERMISSIONS = {
  "session.read": {
    meaning: "see the person and the roles that the server found for the caller, and sign out",
    roles: everyRole,
  },
  "health.read": {
    meaning: "read health, capacity and the masked configuration",
    roles: { operator: "full", auditor: "full" },
  },
  "work.read": {
    meaning: "see which work runs or waits, without what it is about",
    roles: { operator: "full", privacy: "full", auditor: "full" },
  },
  "counters.read": {
    meaning: "read counters of outcomes, rejections and drift",
    roles: { operator: "full", analyst: "full", investigator: "full", auditor: "full" },
  },
  "rejections.read": {
    meaning: "list the latest rejected requests, with their accounts",
    roles: { operator: "pseudonyms", analyst: "full", investigator: "full" },
  },
  "events.list": {
    meaning: "list and search promoted attributes",
    roles: { operator: "pseudonyms", analyst: "full", investigator: "full", privacy: "full" },
  },
  "events.timeline": {
    meaning: "read what the audit has of an idempotency key",
    roles: { analyst: "full", investigator: "full", privacy: "full" },
  },
  "events.observations": {
    meaning: "read the observations of an event, with a case",
    roles: { analyst: "low-and-medium", investigator: "full" },
  },
  "events.exact": { meaning: "read the exact bytes of an event, with a case", roles: { investigator: "full" } },
  "cases.use": {
    meaning: "open and close cases",
    roles: { analyst: "full", investigator: "full" },
  },
  "cases.read": {
    meaning: "read cases",
    roles: { analyst: "own", investigator: "own", privacy: "full", auditor: "full" },
  },
  "approvals.read": {
    meaning: "read approvals",
    roles: { operator: "full", analyst: "full", investigator: "own", privacy: "full", auditor: "full" },
  },
  "approvals.decide": {
    meaning: "approve or deny what another person asked for, for the roles that it needs",
    roles: { operator: "full", analyst: "full", privacy: "full" },
  },
  "sessions.manage": {
    meaning: "issue and revoke session tokens, register and revoke actions",
    roles: { operator: "full" },
  },
  "governance.read": {
    meaning: "read purposes, holds, restrictions, erasures, receipts, requests, retention and keys",
    roles: { privacy: "full", auditor: "full" },
  },
  "purposes.change": { meaning: "change purposes and their retention", roles: { privacy: "full" } },
  "governance.change": {
    meaning: "change holds, restrictions, erasures and requests; accept losses",
    roles: { privacy: "full" },
  },
  "holds.place": { meaning: "place holds", roles: { investigator: "with-approval", privacy: "full" } },
  "keys.destroy": {
    meaning: "destroy versions of the key-encryption key",
    roles: { operator: "with-approval" },
  },
  "drift.review": {
    meaning: "accept, ignore and reject fields beyond the catalog",
    roles: { analyst: "full" },
  },
  "drift.classify": {
    meaning: "classify the sensitivity of a field that another person accepted",
    roles: { privacy: "full" },
  },
  "features.propose": { meaning: "propose versions of features", roles: { analyst: "full" } },
  "features.decide": {
    meaning: "adopt versions of features (with an approval: own versions, fields of high sensitivity), and retire them",
    roles: { analyst: "full" },
  },
  "features.governance": {
    meaning: "read which features are adopted, and why",
    roles: { analyst: "full", investigator: "full", privacy: "full", auditor: "full" },
  },
  "backfills.manage": {
    meaning: "start, pause, resume and cancel backfills of features",
    roles: { operator: "full", analyst: "full" },
  },
  "backfills.read": {
    meaning: "read the progress and the balance of backfills",
    roles: { operator: "full", analyst: "full", privacy: "full", auditor: "full" },
  },
  "features.read": { meaning: "read the features of events", roles: { analyst: "full", investigator: "full" } },
  "features.explain": {
    meaning: "read where the value of a feature comes from",
    roles: { analyst: "full", investigator: "full", auditor: "without-values" },
  },
  "exports.features": {
    meaning: "export features for training, with an approval by privacy",
    roles: { analyst: "full", investigator: "full", privacy: "full" },
  },
  "exports.events": {
    meaning: "export exact bytes of many events, with a case and an approval by privacy",
    roles: { investigator: "full" },
  },
  "exports.read": {
    meaning: "read which exports were handed out, and which rows are recalled",
    roles: { analyst: "full", investigator: "full", privacy: "full", auditor: "full" },
  },
  "exports.recall": {
    meaning: "recall rows of exports, and acknowledge that they were deleted",
    roles: { analyst: "full", privacy: "full" },
  },
  "accounts.export": {
    meaning: "export what is stored about an account, for an open request of the account",
    roles: { privacy: "full" },
  },
  "maintenance.run": {
    meaning: "run retention passes and rotate the key-encryption key",
    roles: { operator: "full", privacy: "full" },
  },
  "backups.record": { meaning: "record that a backup was taken", roles: { operator: "full" } },
  "backups.read": {
    meaning: "read which backups are recorded",
    roles: { operator: "full", privacy: "full", auditor: "full" },
  },
  "audit.read": {
    meaning: "read the audit log (operator and privacy: also refused sign-ins and false credentials)",
    roles: { operator: "own", analyst: "own", investigator: "own", privacy: "own", auditor: "full" },
  },
  "audit.verify": { meaning: "verify and export the audit log", roles: { auditor: "full" } },
  "audit.review": { meaning: "list, open and close reviews of audit entries", roles: { auditor: "full" } },
  "people.read": {
    meaning: "list people, with their names and roles",
    roles: { operator: "full", privacy: "full", auditor: "full" },
  },
  "admin-tokens.read": {
    meaning: "list admin tokens and sessions",
    roles: { operator: "full", privacy: "full", auditor: "full" },
  },
  "admin-tokens.issue": { meaning: "issue admin tokens", roles: { operator: "with-approval" } },
  "admin-tokens.revoke": { meaning: "revoke admin tokens and sessions", roles: { operator: "full", privacy: "full" } },
} as const satisfies Readonly<Record<string, PermissionDefinition>>;

export type Permission = keyof typeof PERMISSIONS;

/** The rank of each scope: a wider scope has a larger number. */
const SCOPE_WIDTH: Readonly<Record<Scope, number>> = {
  own: 0,
  pseudonyms: 1,
  "without-values": 2,
  "low-and-medium": 3,
  "with-approval": 4,
  full: 5,
};

/** @returns the widest scope that one of the roles gives; `undefined` if no role has the permission */
export function scopeOf(permission: Permission, roles: readonly Role[]): Scope | undefined {
  const granted: PermissionDefinition["roles"] = PERMISSIONS[permission].roles;
  return roles
    .map((role) => granted[role])
    .filter((scope) => scope !== undefined)
    .toSorted((a, b) => SCOPE_WIDTH[b] - SCOPE_WIDTH[a])[0];
}

/** The roles that have the permission, in any scope. */
export const rolesWith = (permission: Permission): readonly Role[] =>
  ROLE_NAMES.filter((role) => scopeOf(permission, [role]) !== undefined);
