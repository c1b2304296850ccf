/**
 * The owner of each table. Only the owner's folder holds statements that change it; other folders read it through the
 * owner's functions or through a view. The exceptions are listed here, each with its reason.
 */
export interface Table {
  readonly owner: string;
  /** Files outside the owner's folder that read this table in their statements, each with the reason. */
  readonly readers?: Readonly<Record<string, string>>;
  /** Files outside the owner's folder that change this table, each with the reason. */
  readonly writers?: Readonly<Record<string, string>>;
}

const OWN_PERIOD = "the retention period of each row's purpose";

export const TABLES: Readonly<Record<string, Table>> = {
  schema_migration: { owner: "store/postgres" },
  schema_definition: { owner: "store/postgres" },
  installation: { owner: "lifecycle/recovery" },
  account_identity: {
    owner: "store/accounts",
    readers: { "lifecycle/restrictions/restrictions.ts": "the name from which a restriction's keyed MAC is computed" },
  },
  account_key: {
    owner: "store/accounts",
    readers: {
      "features/backfill-chunks.ts": "a balance counts what is erased or restricted",
      "features/feature-rows.ts": "no values of an erased account are stored",
      "lifecycle/erasure/finish-erasures.ts": "erased keys that still have ledger rows",
      "lifecycle/holds/erased-copies.ts": "the account of a key",
      "lifecycle/recovery/lost-secrets.ts": "looks for lost secrets of every kind",
    },
  },
  secret_loss: {
    owner: "store/accounts",
    readers: { "store/events/commit-batch.ts": "an event that was sealed under a lost secret is sealed again" },
  },
  lost_secret: {
    owner: "store/accounts",
    readers: { "lifecycle/erasure/erasures.ts": "which keys of an erasure had been lost before" },
  },
  refused_account: { owner: "store/accounts" },
  session_token: {
    owner: "ingest/sessions",
    readers: { "lifecycle/requests/account-export.ts": "the export reads all of an account through one cursor" },
  },
  action: {
    owner: "ingest/actions",
    readers: { "lifecycle/requests/account-export.ts": "the export reads all of an account through one cursor" },
  },
  drift: { owner: "ingest/drift" },
  drift_decision: { owner: "ingest/drift" },
  probe_outcome: { owner: "ingest/counters" },
  rejection: { owner: "ingest/counters" },
  event: {
    owner: "store/events",
    readers: {
      "features/backfill-chunks.ts": "a chunk's bounds and its balance are those of what is stored",
      "features/received-end.ts": "a backfill includes what was received by a clock that was ahead",
      "lifecycle/erasure/begin-erasure.ts": "a prepared search that runs while ingestion waits",
      "lifecycle/holds/copy-held-events.ts": "copies held events",
      "lifecycle/recovery/lost-secrets.ts": "looks for lost secrets of every kind",
      "lifecycle/retention/runs.ts": "counts overdue rows",
    },
  },
  event_partition: {
    owner: "store/events",
    readers: {
      "features/attestations.ts": "partitions that expire soon",
      "features/backfill-runs.ts": "a run begins with a chunk for each partition",
      "lifecycle/holds/copy-held-events.ts": "the partitions of the events that an erasure deletes",
      "lifecycle/recovery/destroyed-partitions.ts": "partitions whose secrets are destroyed",
      "lifecycle/recovery/lost-secrets.ts": "looks for lost secrets of every kind",
      "lifecycle/retention/expire.ts": "expired partitions",
      "lifecycle/retention/runs.ts": "overdue partitions",
    },
  },
  idempotency_key: {
    owner: "store/events",
    readers: {
      "features/feature-rows.ts": "no values of an erased event are stored",
      "lifecycle/erasure/finish-erasures.ts": "the ledger rows of erased keys",
      "lifecycle/holds/erased-copies.ts": "the ledger rows of copies that the end of a hold deletes",
      "lifecycle/erasure/plan-erasure.ts": "counts them",
      "lifecycle/holds/copy-held-events.ts": "the full keys of the events that an erasure deletes",
      "lifecycle/requests/account-export.ts": "the export reads all of an account through one cursor",
    },
  },
  tombstone: { owner: "store/events" },
  audit_entry: {
    owner: "audit",
    writers: { "store/events/commit-batch.ts": "one transaction stores events and their audit entry" },
  },
  admin_session: { owner: "access/identity" },
  admin_token: { owner: "access/identity" },
  listed_person: { owner: "access/identity" },
  sign_in_attempt: { owner: "access/identity" },
  access_case: { owner: "access/cases" },
  approval: { owner: "access/approvals" },
  approval_decision: { owner: "access/approvals" },
  audit_leaf: { owner: "audit" },
  audit_checkpoint: { owner: "audit" },
  audit_review: { owner: "audit" },
  audit_verification: { owner: "audit" },
  audit_review_end: { owner: "audit" },
  audit_secret: {
    owner: "audit",
    readers: { "lifecycle/recovery/destroyed-partitions.ts": "secrets that a restored key store has again" },
  },
  purpose: {
    owner: "purposes",
    readers: {
      "features/feature-rows-as-of.ts": OWN_PERIOD,
      "features/exports/export-table.ts": "the id of the purpose of an export",
      "features/exports/latest-expiry.ts": OWN_PERIOD,
      "features/exports/recalls.ts": OWN_PERIOD,
      "features/attestations.ts": OWN_PERIOD,
      "features/backfill-chunks.ts": OWN_PERIOD,
      "features/backfill-runs.ts": "the id of the purpose of a run",
      "features/decisions.ts": "the id of the purpose that a decision is about",
      "features/extraction-due.ts": OWN_PERIOD,
      "store/events/ledger.ts": "every purpose, so that PostgreSQL uses the index by purpose and time",
      "lifecycle/holds/copy-held-events.ts": "every purpose, so that PostgreSQL uses the index by purpose and time",
      "lifecycle/holds/resolve-holds.ts": "every purpose, so that PostgreSQL uses the index by purpose and time",
      "lifecycle/recovery/lost-secrets.ts": OWN_PERIOD,
      "lifecycle/restrictions/restriction-orders.ts": "the code of a purpose that the journal names by its id",
      "lifecycle/retention/expire.ts": OWN_PERIOD,
      "lifecycle/retention/runs.ts": OWN_PERIOD,
      "lifecycle/requests/account-export.ts": "the id of the purpose that a restriction is on",
    },
  },
  policy: {
    owner: "purposes",
    readers: { "store/events/commit-batch.ts": "an event's purpose is decided in the transaction that stores it" },
  },
  purpose_mapping: { owner: "purposes" },
  journal_entry: { owner: "lifecycle/journal" },
  legal_hold: {
    owner: "lifecycle/holds",
    readers: {
      "lifecycle/recovery/lost-secrets.ts": "looks for lost secrets of every kind",
      "purposes/policy-table.ts": "what a policy would let expire at once",
    },
  },
  held_event: {
    owner: "lifecycle/holds",
    readers: {
      "store/events/tombstones.ts": "a tombstone lives as long as a copy of its event",
      "lifecycle/erasure/erasures.ts": "what a hold still keeps of an erasure",
      "lifecycle/recovery/lost-secrets.ts": "looks for lost secrets of every kind",
      "lifecycle/requests/data-requests.ts": "what a hold still keeps of a request's erasure",
    },
  },
  erasure: {
    owner: "lifecycle/erasure",
    readers: {
      "store/accounts/account-keys.ts": "the keys of erasures that this server has not seen",
      "store/events/commit-batch.ts": "an event that was sealed before an erasure is sealed again",
      "features/exports/export-table.ts": "the latest erasure that had been applied when an export began",
      "features/exports/recalls.ts": "what was erased after it had been exported",
      "lifecycle/requests/data-requests.ts": "what a hold still keeps of a request's erasure",
    },
  },
  restriction: {
    owner: "lifecycle/restrictions",
    readers: {
      "lifecycle/requests/account-export.ts": "the export reads all of an account through one cursor",
      "lifecycle/requests/data-requests.ts": "the restriction that a request led to",
    },
  },
  retention_run: { owner: "lifecycle/retention" },
  retention_effect: { owner: "lifecycle/retention" },
  data_request: { owner: "lifecycle/requests" },
  feature_version: { owner: "features" },
  feature_decision: { owner: "features" },
  layer: {
    owner: "features",
    readers: { "store/events/commit-batch.ts": "whether the features of a batch are due" },
  },
  feature_partition: {
    owner: "features",
    readers: {
      "lifecycle/recovery/destroyed-partitions.ts": "partitions whose secrets are destroyed",
      "lifecycle/recovery/lost-secrets.ts": "looks for lost secrets of every kind",
      "lifecycle/retention/expire.ts": "expired partitions",
      "lifecycle/retention/runs.ts": "overdue partitions",
    },
  },
  feature_row: { owner: "features" },
  held_feature: { owner: "lifecycle/holds" },
  extraction_due: {
    owner: "features",
    writers: { "store/events/commit-batch.ts": "one transaction stores events and records what is due of them" },
  },
  extraction_failure: { owner: "features" },
  feature_run: { owner: "features" },
  feature_chunk: { owner: "features" },
  feature_tally: { owner: "features" },
  data_export: {
    owner: "features/exports",
    readers: {
      "features/feature-rows.ts": "values that are stored after an export began are newer than its watermark",
      "features/attestations.ts": "an attestation is about the values that were stored after an export, too",
    },
  },
  export_subject: { owner: "features/exports" },
  acknowledged_recall: { owner: "features/exports" },
  attestation: { owner: "features" },
  attestation_start: {
    owner: "features",
    readers: { "features/exports/export-table.ts": "an export has the values that were stored after an attestation" },
  },
};

/** What an erasure and an export of an account do with a table that has a column `account`. */
export interface AccountData {
  readonly erased: string;
  readonly exported: string;
}

const EVENTS_FILE = "events.ndjson";

export const ACCOUNT_DATA: Readonly<Record<string, AccountData>> = {
  access_case: {
    erased: "deleted when the erasure begins; the audit has its reason, sealed",
    exported: "not exported: accesses.ndjson has the reads under the case",
  },
  account_identity: { erased: "deleted when the erasure begins", exported: "the name is in manifest.json" },
  account_key: { erased: "deleted with its last ledger row", exported: "not exported: the ids are random" },
  action: { erased: "deleted when the erasure begins", exported: "actions.ndjson" },
  data_request: { erased: "kept: a name until the request is closed", exported: "requests.ndjson" },
  event: { erased: "deleted", exported: EVENTS_FILE },
  feature_row: { erased: "deleted", exported: "features.ndjson" },
  held_event: { erased: "kept until the last hold ends", exported: EVENTS_FILE },
  held_feature: { erased: "kept until the last hold ends", exported: "features.ndjson" },
  idempotency_key: { erased: "replaced by tombstones without a name", exported: "idempotency-keys.ndjson" },
  legal_hold: {
    erased: "kept: it proves why data was kept",
    exported: "not exported: a hold is not data of the account",
  },
  session_token: { erased: "deleted when the erasure begins", exported: "tokens.ndjson" },
};

/**
 * SQL functions that change tables, with the tables that each function changes in one transaction. The functions run
 * with the owner's rights, or only the owner calls them.
 */
export const FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  apply_restrictions: ["account_identity", "account_key"],
  delete_erased_features: ["erasure", "feature_row"],
  delete_expired_features: ["feature_row", "retention_effect"],
  drop_expired_feature_partition: ["feature_partition", "retention_effect"],
  ensure_feature_partition: ["feature_partition"],
  record_created_feature_secret: ["feature_partition"],
  delete_erased: ["erasure", "event", "extraction_failure", "idempotency_key"],
  delete_ended_cases: ["access_case"],
  delete_expired_counts: ["probe_outcome", "rejection"],
  delete_expired_sessions: ["admin_session"],
  delete_expired_events: ["event", "extraction_failure", "retention_effect"],
  delete_incomplete_features: ["feature_row"],
  delete_released_copies: ["held_event", "idempotency_key", "retention_effect"],
  drop_expired_partition: ["event_partition", "extraction_failure", "retention_effect"],
  ensure_account_key: ["account_identity", "account_key"],
  ensure_event_partition: ["event_partition"],
  finish_erasure: ["erasure"],
  delete_account_key: ["account_key"],
  delete_idempotency_keys: ["event_partition", "idempotency_key", "retention_effect"],
  delete_expired_tombstones: ["retention_effect", "tombstone"],
  record_created_secret: ["event_partition"],
  record_destroyed_audit_secret: ["audit_secret"],
  record_destroyed_hold_secret: ["legal_hold"],
  record_destroyed_secret: ["event_partition", "feature_partition"],
  record_ended_hold: ["erasure", "journal_entry", "legal_hold"],
  record_final_receipt: ["erasure"],
  record_secret_to_destroy: ["retention_effect"],
  renew_tombstones: ["tombstone"],
  take_retention_effects: ["retention_effect"],
};
