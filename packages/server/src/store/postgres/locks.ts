/**
 * Numbers of advisory locks. SQL functions contain some of these numbers; `locks.test.ts` compares them with this list.
 */
export const LOCKS = {
  /** The processes that use an embedded PostgreSQL share this lock. The last of them stops the PostgreSQL. */
  embeddedUsers: 7_236_510,
  /** One server at a time uses an embedded PostgreSQL. */
  embeddedServer: 7_236_511,
  /** One process at a time migrates the schema. */
  migration: 7_236_514,
  /** The lock has the purpose as second number: one transaction at a time creates a partition of a purpose. */
  partitionCreation: 7_236_515,
  /** One process at a time creates the tables of the key store. */
  keyStoreSchema: 7_236_516,
  /** One policy at a time is compared and applied: the second one sees what the first did. */
  policy: 7_236_517,
  /** One server or command at a time runs a retention pass, finishes erasures, or destroys or replaces secrets. */
  maintenance: 7_236_518,
  /** A transaction that places or lifts a hold and a transaction that deletes events exclude each other. */
  holds: 7_236_519,
  /**
   * Commit batches share this lock; an erasure, a change of the policy, an adoption or retirement of features, an
   * export or an accepted loss of secrets takes it exclusively.
   */
  ingestion: 7_236_520,
  /** One transaction at a time appends to the erasure journal. */
  journal: 7_236_521,
  /** One server or command at a time extends or prunes the audit log. */
  auditLog: 7_236_523,
  /** One process at a time creates the tables of the erasure journal. */
  journalSchema: 7_236_522,
  /**
   * A change of an account's restrictions and the creation of the account's keys exclude each other. The second number
   * is a hash of the account's keyed MAC.
   */
  restrictions: 7_236_524,
  /** One transaction at a time creates a partition of feature values of a purpose, which is the second number. */
  featurePartitionCreation: 7_236_525,
  /** One decision about features at a time: the second one sees what the first did. */
  features: 7_236_526,
  /**
   * If several layers of a purpose share features, one backfill at a time computes feature values of the purpose's
   * events: each backfill sees what the others stored. The second number is a hash of the purpose.
   */
  sharedFeatures: 7_236_544,
  /** One server at a time attests values before their events expire. */
  attestation: 7_236_528,
  /** One call at a time starts the count of payloads that are read in an hour to compare retries. */
  comparedPayloads: 7_236_529,
  /** One call at a time opens events for a person, whose hash is the second number: each counts what the others opened. */
  openedEvents: 7_236_540,
  /** One worker at a time verifies the audit log. */
  auditVerification: 7_236_530,
  /** One call at a time exports an account for a person, whose hash is the second number. */
  exportedAccounts: 7_236_550,
  /** One operation at a time removes events for a person, whose hash is the second number, without an approval. */
  removedEvents: 7_236_551,
  /** One call at a time asks for an approval of a person, whose hash is the second number. */
  waitingApprovals: 7_236_552,
  /** One call at a time closes a review, whose hash is the second number. */
  auditReviews: 7_236_541,
  /**
   * No review of an account is opened while an audit secret of the account is destroyed. The second number is a hash of
   * the account's keyed MAC.
   */
  auditSecrets: 7_236_542,
  /** One server at a time writes rejected requests, and removes those beyond the limits. */
  recentRejections: 7_236_553,
  /** One transaction at a time inserts a row with an id of a series, whose hash is the second number. */
  numberedIds: 7_236_543,
} as const;
