// Generated from the declared settings by `npm run generate`. Do not edit.

type AtMostOne<Name extends string> = { [One in Name]: { readonly [Other in Exclude<Name, One>]?: never } }[Name];

/** Settings of an endpoint that a host embeds. */
export interface Settings {
  readonly database?: {
    /** Where the embedded PostgreSQL keeps its cluster. Must be a path. Default: `./.data`. Variable: `DRS_DATA_DIR`. */
    readonly directory?: string;
    /** An external PostgreSQL (15 or later). Absent: the embedded one. Must be a URL that starts with postgres: or postgresql:. Variable: `DRS_DATABASE_URL`. */
    readonly url?: string;
    /** The same database by the login that owns the tables. Absent: the login of `database.url` owns them too. Must be a URL that starts with postgres: or postgresql:. Variable: `DRS_MIGRATION_DATABASE_URL`. */
    readonly migrationUrl?: string;
    /** Connections in the pool. If several processes receive events, each has an equal part of them, but at least 4, or all if there are fewer than 4. Commit batches, retention passes, monitoring and the owner's login use other connections. Must be a whole number from 2 to 200. Default: `8`. Variable: `DRS_DATABASE_POOL`. */
    readonly pool?: number;
  };
  readonly keys?: {
    /** Key store in a directory. Default with the embedded database: `./.keys`. Never inside the data directory. Must be a path. Variable: `DRS_KEY_DIR`. */
    readonly directory?: string;
    /** Key store in a PostgreSQL of its own; not the cluster that holds the events. Must be a URL that starts with postgres: or postgresql:. Variable: `DRS_KEY_DATABASE_URL`. */
    readonly databaseUrl?: string;
    /** 32 bytes that wrap everything in the key store; the variable has them in base64. Must be a Uint8Array of 32 bytes. Variable: `DRS_KEY_ENCRYPTION_KEY`. */
    readonly encryptionKey?: Uint8Array;
    /** The previous key-encryption key, until `drs key rotate` has wrapped every secret under the new one. Must be a Uint8Array of 32 bytes. Variable: `DRS_PREVIOUS_KEY_ENCRYPTION_KEY`. */
    readonly previousEncryptionKey?: Uint8Array;
    /** File with one or more key-encryption keys, one a line: the last one wraps, all of them unwrap. Without a configured source, the server makes a key next to the wrapped secrets if it starts the embedded database: for development, not for production. Must be a path. Variable: `DRS_KEY_ENCRYPTION_KEY_FILE`. */
    readonly encryptionKeyFile?: string;
    /** Command that prints what the file would hold; the variable has a JSON array of the program and its arguments. It runs without a shell and without `DRS_` variables. Must be an array of the program and its arguments. Variable: `DRS_KEY_ENCRYPTION_KEY_COMMAND`. */
    readonly encryptionKeyCommand?: readonly string[];
  } & AtMostOne<"directory" | "databaseUrl"> & AtMostOne<"encryptionKey" | "encryptionKeyFile" | "encryptionKeyCommand">;
  readonly throttle?: {
    /** Requests per second of one account, on each server; requests with a large body or many members count more than once. 0 is off. Must be a whole number from 0 to 1000000. Default: `50`. Variable: `DRS_THROTTLE_RATE`. */
    readonly ratePerSecond?: number;
    /** Requests that an account may send at once. Must be a whole number from 1 to 1000000. Default: `100`. Variable: `DRS_THROTTLE_BURST`. */
    readonly burst?: number;
  };
  readonly limits?: {
    /** Largest decompressed request body. Must be a whole number from 1024 to 16777216. Default: `262144`. Variable: `DRS_MAX_BODY_BYTES`. */
    readonly maxBodyBytes?: number;
    /** Time for a request to arrive in full; in an embedding host, for its body. Must be a whole number of milliseconds from 1000 to 3600000 (1h). Default: `30000`, which is `30s`. Variable: `DRS_REQUEST_TIMEOUT`. */
    readonly requestTimeoutMs?: number;
    /** How old `collected_at` may be. Must be a whole number of milliseconds from 0 to 3153600000000 (36500d). Default: `86400000`, which is `24h`. Variable: `DRS_MAX_AGE`. */
    readonly maxAgeMs?: number;
    /** How far `collected_at` may be ahead of the server's clock. Must be a whole number of milliseconds from 0 to 3153600000000 (36500d). Default: `300000`, which is `5m`. Variable: `DRS_MAX_FUTURE`. */
    readonly maxFutureMs?: number;
    /** Maximum number of concurrent requests; above it, 503. Must be a whole number from 1 to 100000. Default: `1024`. Variable: `DRS_MAX_REQUESTS`. */
    readonly maxRequests?: number;
    /** Maximum bytes of request bodies in memory; above it, 503. Must be a whole number from 1048576 to 4294967296. Default: `67108864`. Variable: `DRS_MAX_BUFFER_BYTES`. */
    readonly maxBufferBytes?: number;
  };
  /** What to do when `session_id` is not the action's session value: ignore it, write an audit entry, or answer 403. Must be one of off, record, enforce. Default: `record`. Variable: `DRS_SESSION_BINDING`. */
  readonly sessionBinding?: "off" | "record" | "enforce";
  readonly actions?: {
    /** Secret of signed action ids (at least 32 bytes); with it, ids of the form `v1.…` are verified without the table. Must be a string of at least 32 bytes. Variable: `DRS_ACTION_SIGNING_SECRET`. */
    readonly signingSecret?: string;
  };
  readonly sessions?: {
    readonly jwt?: {
      /** Verify session tokens as JWTs by the keys at this URL. Must be a URL that starts with https: or http:. Variable: `DRS_JWT_JWKS_URL`. */
      readonly jwksUrl?: string;
      /** Verify session tokens as JWTs by this shared secret (at least 32 bytes). Must be a string of at least 32 bytes. Variable: `DRS_JWT_SECRET`. */
      readonly secret?: string;
      /** Required `iss` of a JWT. Must be a string that is not empty. Variable: `DRS_JWT_ISSUER`. */
      readonly issuer: string;
      /** Required `aud` of a JWT. Must be a string that is not empty. Variable: `DRS_JWT_AUDIENCE`. */
      readonly audience: string;
      /** Accepted algorithms. Default: `HS256` with a secret, `RS256,PS256,ES256,EdDSA` with a JWKS. `none` and algorithms of the other kind are a configuration error. Must be an array of names. Variable: `DRS_JWT_ALGORITHMS`. */
      readonly algorithms?: readonly string[];
      /** Claim that names the account. Must be a string that is not empty. Default: `sub`. Variable: `DRS_JWT_ACCOUNT_CLAIM`. */
      readonly accountClaim?: string;
      /** Tolerated clock difference for `exp` and `nbf`; at most 5m. Must be a whole number of milliseconds from 0 to 300000 (5m). Default: `30000`, which is `30s`. Variable: `DRS_JWT_CLOCK_SKEW`. */
      readonly clockSkewMs?: number;
    } & AtMostOne<"jwksUrl" | "secret">;
    readonly introspection?: {
      /** Verify session tokens by RFC 7662 introspection at this URL. Must be a URL that starts with https: or http:. Variable: `DRS_INTROSPECTION_URL`. */
      readonly url: string;
      /** Client id for the introspection request. Must be a string that is not empty. Variable: `DRS_INTROSPECTION_CLIENT_ID`. */
      readonly clientId?: string;
      /** Client secret for the introspection request. Must be a string that is not empty. Variable: `DRS_INTROSPECTION_CLIENT_SECRET`. */
      readonly clientSecret?: string;
      /** Member of the introspection answer that names the account. Must be a string that is not empty. Default: `sub`. Variable: `DRS_INTROSPECTION_ACCOUNT_CLAIM`. */
      readonly accountClaim?: string;
    };
  } & AtMostOne<"jwt" | "introspection">;
  readonly journal?: {
    /** File of a recent receipt: the server does not start if the erasure journal ends before the entry that the receipt names. Must be a path. Variable: `DRS_ERASURE_RECEIPT_FILE`. */
    readonly receiptFile?: string;
    /** Directory of the erasure journal, apart from events and keys. Default with the embedded database: `./.erasures`. Must be a path. Variable: `DRS_ERASURE_JOURNAL`. */
    readonly directory?: string;
    /** Erasure journal in a PostgreSQL of its own, where several hosts share it. Must be a URL that starts with postgres: or postgresql:. Variable: `DRS_ERASURE_JOURNAL_DATABASE_URL`. */
    readonly databaseUrl?: string;
  } & AtMostOne<"directory" | "databaseUrl">;
  readonly retention?: {
    /** How long an idempotency key is remembered after its event has expired or was erased. Must be a whole number of milliseconds from 3600000 to 315360000000 (3650d). Default: `2592000000`, which is `30d`. Variable: `DRS_REPLAY_WINDOW`. */
    readonly replayWindowMs?: number;
    /** How long the hourly counts of probe outcomes and rejections are kept. Must be a whole number of milliseconds from 3600000 to 315360000000 (3650d). Default: `34560000000`, which is `400d`. Variable: `DRS_COUNT_RETENTION`. */
    readonly countsMs?: number;
    /** How long you keep backups of the key store. You declare it; receipts use it, the server deletes no backup. Must be a whole number of milliseconds from 0 to 3153600000000 (36500d). Variable: `DRS_KEY_BACKUP_RETENTION`. */
    readonly keyBackupMs?: number;
    /** How long you keep backups of the events. You declare it; receipts use it, the server deletes no backup. Must be a whole number of milliseconds from 0 to 3153600000000 (36500d). Variable: `DRS_BACKUP_RETENTION`. */
    readonly backupMs?: number;
    /** How often a worker runs a retention pass: it deletes expired events, and finishes interrupted erasures. Must be a whole number of milliseconds from 1000 to 86400000 (24h). Default: `10000`, which is `10s`. Variable: `DRS_RETENTION_INTERVAL`. */
    readonly intervalMs?: number;
    /** How long the secret of a dropped partition is kept if a hold keeps events of that time: longer than an asynchronous standby may lag. Must be a whole number of milliseconds from 0 to 2592000000 (30d). Default: `0`, which is `0s`. Variable: `DRS_HELD_DESTRUCTION_DELAY`. */
    readonly heldDestructionDelayMs?: number;
  };
  readonly audit?: {
    /** Directory that keeps the checkpoints of the audit log, in addition to the erasure journal. Use a directory of another system, in which administrators of the database can't write. Must be a path. Variable: `DRS_AUDIT_CHECKPOINTS`. */
    readonly checkpointDirectory?: string;
    /** File of the MAC keys of audit entries: each line has a surface (`ingest`, `admin`, `worker`, `direct`) and 32 bytes in base64. Give each process the lines of its own surface; give workers and commands all lines. Without it, each process derives all keys from the installation secret. Must be a path. Variable: `DRS_AUDIT_KEY_FILE`. */
    readonly keyFile?: string;
    /** How long audit entries are kept: `drs audit prune` deletes older ones. Must be a whole number of milliseconds from 2592000000 to 3153600000000 (36500d). Default: `63072000000`, which is `730d`. Variable: `DRS_AUDIT_RETENTION`. */
    readonly retentionMs?: number;
    /** How long reasons and details of audit entries about an account remain readable after its erasure, and how long other texts of operators are kept, such as those of ended cases. Must be a whole number of milliseconds from 0 to 315360000000 (3650d). Default: `15552000000`, which is `180d`. Variable: `DRS_AUDIT_REASON_RETENTION`. */
    readonly reasonRetentionMs?: number;
  };
  /** JSON file of the fields that features read: in these an event must match the catalog. A change is read within 2 s. Must be a path. Variable: `DRS_ADOPTED_FIELDS_FILE`. */
  readonly adoptedFieldsFile?: string;
  readonly features?: {
    /** Whether the server computes adopted features. With false, `drs feature work` does it, in a process of its own. Must be true or false. Default: `true`. Variable: `DRS_FEATURE_WORKER`. */
    readonly worker?: boolean;
  };
  /** Time limit of a call to the database, the key store, the erasure journal, the directory of audit checkpoints, the JWKS, the introspection endpoint or the identity provider, and of a run of the command that prints the key-encryption key. Must be a whole number of milliseconds from 100 to 600000 (10m). Default: `5000`, which is `5s`. Variable: `DRS_DEPENDENCY_TIMEOUT`. */
  readonly dependencyTimeoutMs?: number;
}
