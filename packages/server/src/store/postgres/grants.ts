/**
 * Which role may do what on which table, view and function: the only place that says so. `drs migrate` applies it, and
 * `docs/database-roles.md` shows it.
 */
import { type Role, ROLE_NAMES } from "./roles.ts";

/** Privileges on a table or view, in the words of `GRANT`. */
export type Grants = Partial<Readonly<Record<Role, readonly string[]>>>;

const ALL = ROLE_NAMES;
const READ = ["select"];
const APPEND = ["select", "insert"];
const columns = (privilege: string, names: string): string => `${privilege} (${names})`;

/** Every column of `kept_event` except the payload. */
const ATTRIBUTES = `account, purpose, received_at, event_id, collected_at, schema_version, idempotency_key, action_id,
  action_type, session_id, event_type, sdk_version, platform, app_version, key_id, hold_id, erased_by, partition_purpose`;

/** The columns that a writer gives. The database fills in the others. */
const DRIFT_DECISION_COLUMNS = `decision_id, path, kind, type, unit, sensitivity, ignored_until, seen_types, decided_by, reason, mac`;

/** Every column of `live_feature` and `unrestricted_feature` except the payload. */
const FEATURE_ATTRIBUTE_COLUMNS = `account, purpose, received_at, event_id, layer, action_id, action_type, platform, sdk_version,
  app_version, schema_version, extracted_at, key_id, hold_id, erased_by, partition_purpose, restricted`;

/** The columns that a plan needs to count rows of feature values. */
const FEATURE_KEY = "account, purpose, received_at, event_id, action_id, key_id";

const toAllRoles = (...privileges: readonly string[]): Grants =>
  Object.fromEntries(ALL.map((role) => [role, privileges]));
const toRoles = (privileges: readonly string[], ...roles: readonly Role[]): Grants =>
  Object.fromEntries(roles.map((role) => [role, privileges]));

const APPEND_AND_COUNT = [...APPEND, columns("update", "occurrences")];
const APPEND_AND_REVOKE = [...APPEND, columns("update", "revoked_at")];

/**
 * The tables of each folder. Only this folder changes them, and a wing reads the tables of the wings that it may import.
 */
export const TABLES: Readonly<Record<string, Readonly<Record<string, Grants>>>> = {
  "access/approvals": {
    approval: toRoles([...APPEND, columns("update", "used_at")], "drs_service", "drs_admin"),
    approval_decision: toRoles(APPEND, "drs_service", "drs_admin"),
  },
  "access/cases": {
    access_case: toRoles([...APPEND, columns("update", "closed_at, events_opened")], "drs_service", "drs_admin"),
  },
  "access/identity": {
    admin_token: toRoles([...READ, columns("update", "last_used_at, revoked_at")], "drs_service", "drs_admin"),
    listed_person: toRoles(APPEND, "drs_service", "drs_admin"),
    admin_session: toRoles([...APPEND, columns("update", "last_used_at, ended_at")], "drs_service", "drs_admin"),
    signed_in_identity: toRoles(
      [...APPEND, columns("update", "person, name, roles, signed_in_at")],
      "drs_service",
      "drs_admin",
    ),
    sign_in_attempt: toRoles([...APPEND, "delete"], "drs_service", "drs_admin"),
  },
  audit: {
    audit_entry: { ...toRoles(APPEND, "drs_service", "drs_admin"), drs_ingest: ["insert"] },
    audit_secret: toRoles([...READ, columns("insert", "secret_id, subject")], "drs_service", "drs_admin"),
    audit_review: toRoles(APPEND, "drs_service", "drs_admin"),
    audit_review_end: toRoles(APPEND, "drs_service", "drs_admin"),
    // Only the owner's login, which a worker has, extends the log: a row of another login would stop the tree.
    audit_leaf: toRoles(READ, "drs_service", "drs_admin"),
    audit_checkpoint: toRoles(READ, "drs_service", "drs_admin"),
    audit_verification: toRoles(
      [...READ, columns("insert", "verification_id, requested_by, request, request_mac")],
      "drs_service",
      "drs_admin",
    ),
  },
  features: {
    feature_version: toAllRoles(...READ),
    feature_decision: toAllRoles(...READ),
    layer: toAllRoles(...READ),
    feature_partition: toAllRoles(...READ),
    feature_row: { drs_service: APPEND, drs_admin: [columns("select", FEATURE_KEY)] },
    extraction_due: {
      drs_service: [...APPEND, "delete", columns("update", "tries, not_before, purposes, received_at, event_ids")],
      drs_ingest: ["insert"],
      drs_admin: READ,
    },
    extraction_failure: { drs_service: [...APPEND, "delete"], drs_admin: READ },
    feature_run: {
      drs_service: [...APPEND, columns("update", "state, ended_at, next_at")],
      drs_admin: [...APPEND, columns("update", "state, ended_at")],
    },
    feature_chunk: { drs_service: [...APPEND, "update", "delete"], drs_admin: APPEND },
    feature_tally: { drs_service: APPEND_AND_COUNT, drs_admin: READ },
    attestation: { drs_service: APPEND, drs_admin: READ },
    attestation_start: { drs_service: APPEND },
  },
  "features/exports": {
    data_export: toRoles(READ, "drs_service", "drs_admin"),
    export_subject: toRoles(READ, "drs_service", "drs_admin"),
    acknowledged_recall: toRoles(READ, "drs_service", "drs_admin"),
  },
  "ingest/actions": {
    action: { drs_service: APPEND_AND_REVOKE, drs_ingest: READ, drs_admin: APPEND_AND_REVOKE },
  },
  "ingest/counters": {
    probe_outcome: { ...toRoles(APPEND_AND_COUNT, "drs_service", "drs_ingest"), drs_admin: READ },
    rejection: { ...toRoles(APPEND_AND_COUNT, "drs_service", "drs_ingest"), drs_admin: READ },
  },
  "ingest/recent-rejections": {
    recent_rejection: toRoles(READ, "drs_service", "drs_admin"),
  },
  "ingest/drift": {
    drift: {
      ...toRoles(
        [...APPEND, "delete", columns("update", "last_seen, occurrences, daily")],
        "drs_service",
        "drs_ingest",
      ),
      drs_admin: READ,
    },
    drift_decision: toRoles([...READ, columns("insert", DRIFT_DECISION_COLUMNS)], "drs_service", "drs_admin"),
  },
  "ingest/sessions": {
    session_token: { drs_service: APPEND_AND_REVOKE, drs_ingest: READ, drs_admin: APPEND_AND_REVOKE },
  },
  "lifecycle/backups": {
    recorded_backup: toRoles(READ, "drs_service", "drs_admin"),
  },
  "lifecycle/erasure": {
    erasure: { ...toAllRoles(...READ), drs_ingest: [columns("select", "sequence, keys")] },
  },
  "lifecycle/holds": {
    legal_hold: { ...toAllRoles(...READ), drs_ingest: [columns("select", "hold_id, later_secrets")] },
    held_event: {
      drs_service: APPEND,
      drs_admin: [columns("select", "account, action_id, event_id, hold_id, erased_by")],
    },
    held_feature: { drs_service: APPEND },
  },
  "lifecycle/journal": {
    journal_entry: toAllRoles(...READ),
  },
  "lifecycle/recovery": {
    installation: { ...toAllRoles(...READ), drs_service: [...READ, columns("update", "key_check")] },
  },
  "lifecycle/requests": {
    data_request: toRoles(READ, "drs_service", "drs_admin"),
  },
  "lifecycle/restrictions": {
    restriction: toRoles(READ, "drs_service", "drs_admin"),
  },
  "lifecycle/retention": {
    retention_run: { drs_service: APPEND, drs_admin: READ },
    retention_effect: toRoles([columns("select", "effect_id, at")], "drs_service", "drs_admin"),
  },
  purposes: {
    purpose: toAllRoles(...READ),
    policy: toAllRoles(...READ),
    purpose_mapping: toAllRoles(...READ),
  },
  "store/accounts": {
    refused_account: toAllRoles(...READ),
    account_identity: toRoles([...READ, columns("insert", "account")], "drs_service", "drs_admin"),
    secret_loss: toAllRoles(...READ),
    lost_secret: toAllRoles(...READ),
    account_key: toAllRoles(...READ),
  },
  "store/crypto": {
    key_rotation: {
      drs_service: [...APPEND, columns("update", "secrets, wrapped, finished_at")],
      drs_admin: READ,
    },
  },
  "store/events": {
    event_partition: toAllRoles(...READ),
    event: {
      drs_service: APPEND,
      drs_ingest: ["insert", columns("select", "purpose, received_at")],
      drs_admin: [columns("select", "account, purpose, received_at, event_id, action_id, key_id")],
    },
    idempotency_key: { drs_service: APPEND, drs_ingest: APPEND, drs_admin: READ },
    tombstone: { drs_service: APPEND, drs_ingest: READ, drs_admin: [columns("select", "name_mac, made_at")] },
  },
  "store/postgres": {
    demo: toAllRoles(...READ),
    schema_migration: toAllRoles(...READ),
    schema_definition: toAllRoles(...READ),
  },
};

const VIEWS: Readonly<Record<string, Grants>> = {
  shown_entry: toRoles(READ, "drs_service", "drs_admin"),
  kept_event: { drs_service: READ, drs_admin: [columns("select", ATTRIBUTES)] },
  live_event: { drs_service: READ, drs_admin: [columns("select", `${ATTRIBUTES}, restricted`)] },
  unrestricted_event: { drs_service: READ, drs_admin: [columns("select", `${ATTRIBUTES}, restricted`)] },
  // For logins of analysts, which an operator grants.
  readable_event: {},
  event_under_hold: toRoles(READ, "drs_service", "drs_admin"),
  released_copy: { drs_service: READ },
  kept_feature: { drs_service: READ },
  live_feature: { drs_service: READ, drs_admin: [columns("select", FEATURE_ATTRIBUTE_COLUMNS)] },
  unrestricted_feature: { drs_service: READ, drs_admin: [columns("select", FEATURE_ATTRIBUTE_COLUMNS)] },
  partly_expired_partition: toRoles(READ, "drs_service", "drs_admin"),
};

export const TABLE_GRANTS: Readonly<Record<string, Grants>> = Object.assign({}, ...Object.values(TABLES), VIEWS);

const SERVICE_ONLY = ["drs_service"] as const;
const INGEST = ["drs_service", "drs_ingest"] as const;
const ADMIN = ["drs_service", "drs_admin"] as const;

/**
 * The roles that may execute a function. `public` means every login, including analysts. A function without roles is
 * used only by the owner, by triggers, and by functions and views of the owner.
 */
export const FUNCTION_GRANTS: Readonly<Record<string, readonly (Role | "public")[]>> = {
  apply_restrictions: [],
  committed_entry: [],
  delete_account_key: SERVICE_ONLY,
  delete_ended_cases: SERVICE_ONLY,
  delete_erased: SERVICE_ONLY,
  delete_erased_features: SERVICE_ONLY,
  delete_expired_counts: SERVICE_ONLY,
  delete_expired_events: SERVICE_ONLY,
  delete_expired_features: SERVICE_ONLY,
  delete_expired_sessions: SERVICE_ONLY,
  delete_expired_tombstones: SERVICE_ONLY,
  delete_idempotency_keys: SERVICE_ONLY,
  delete_incomplete_features: SERVICE_ONLY,
  delete_old_rejections: SERVICE_ONLY,
  delete_released_copies: SERVICE_ONLY,
  delete_unused_identities: SERVICE_ONLY,
  drop_expired_feature_partition: SERVICE_ONLY,
  drop_expired_partition: SERVICE_ONLY,
  ensure_account_keys: INGEST,
  // A login that opens an event finds the secrets of its partition by this function.
  ensure_event_partition: ALL,
  ensure_feature_partition: ADMIN,
  fill_in: [],
  fill_in_entry: [],
  finish_erasure: SERVICE_ONLY,
  is_account_key_erased: ADMIN,
  is_held: ADMIN,
  is_restricted: [],
  lock_holds: SERVICE_ONLY,
  lock_ingestion_exclusive: SERVICE_ONLY,
  lock_ingestion_shared: INGEST,
  lock_journal: ALL,
  needed_hold_secrets: ALL,
  partition_unit: ADMIN,
  record_created_feature_secret: SERVICE_ONLY,
  record_created_secret: INGEST,
  record_destroyed_audit_secret: SERVICE_ONLY,
  record_destroyed_hold_secret: SERVICE_ONLY,
  record_destroyed_secret: SERVICE_ONLY,
  record_ended_hold: SERVICE_ONLY,
  record_final_receipt: SERVICE_ONLY,
  record_recent_rejections: INGEST,
  record_secret_to_destroy: SERVICE_ONLY,
  refuse_change: [],
  renew_tombstones: SERVICE_ONLY,
  read_payload_to_compare: INGEST,
  require_read_committed: ALL,
  reveal_event: ADMIN,
  reveal_features: ADMIN,
  count_compared_payloads: INGEST,
  take_retention_effects: SERVICE_ONLY,
  transaction_time: ["public"],
  wall_clock_time: ["public"],
};

/** The SQL that makes the privileges of the roles exactly these. */
export function grantsScript(): string {
  const roles = ROLE_NAMES.join(", ");
  const statements = [`grant usage on schema drs to ${roles}`];
  for (const [table, grants] of Object.entries(TABLE_GRANTS)) {
    statements.push(`revoke all on ${table} from ${roles}`);
    for (const [role, privileges] of Object.entries(grants)) {
      statements.push(`grant ${privileges.join(", ")} on ${table} to ${role}`);
    }
  }
  for (const [name, grantees] of Object.entries(FUNCTION_GRANTS)) {
    statements.push(`revoke all on function ${name} from public, ${roles}`);
    if (grantees.length > 0) statements.push(`grant execute on function ${name} to ${grantees.join(", ")}`);
  }
  return statements.map((statement) => `${statement};\n`).join("");
}
