/** Files that read a table of a wing above, or change a table of another folder. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  "erasure features/exports/export-table.ts": "the latest erasure that had been applied when an export began",
  "erasure features/exports/recalls.ts": "what was erased after it had been exported",
  "erasure store/accounts/account-keys.ts": "the keys of erasures that this server has not seen",
  "erasure store/events/commit-batch.ts": "an event that was sealed before an erasure is sealed again",
  "held_event store/events/tombstones.ts": "a tombstone lives as long as a copy of its event",
  "layer store/events/commit-batch.ts": "whether the features of a batch are due",
  "legal_hold purposes/policy-table.ts": "what a policy would let expire at once",
  "policy store/events/commit-batch.ts": "an event's purpose is decided in the transaction that stores it",
  "purpose store/events/ledger.ts": "every purpose, so that PostgreSQL uses the index by purpose and time",
  "audit_entry store/events/commit-batch.ts": "one transaction stores events and their audit entry",
  "extraction_due store/events/commit-batch.ts": "one transaction stores events and records what is due of them",
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
  recent_rejection: {
    erased: "deleted when the erasure begins; after a day in any case",
    exported: "rejections.ndjson",
  },
  session_token: { erased: "deleted when the erasure begins", exported: "tokens.ndjson" },
};
