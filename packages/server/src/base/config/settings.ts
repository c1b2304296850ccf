/**
 * Declares every setting once, by its path. Options, variables, `drs config`, `docs/configuration.md` and the
 * documentation of the options derive from these declarations. Settings of `service` are no options of an embedded
 * endpoint.
 */
import { LIMITS } from "@device-risk-signals/contract";
import {
  argumentList,
  duration,
  durationWithin,
  flag,
  hostNames,
  integer,
  key256,
  type Kind,
  list,
  oneOf,
  path,
  postgresUrl,
  scopes,
  sharedSecret,
  text,
  webBase,
  webOrigin,
  webUrl,
} from "./values.ts";

export interface Setting<T> {
  readonly variable: `DRS_${string}`;
  readonly kind: Kind<T>;
  /** The default, written as in the environment; absent means that there is none. */
  readonly fallback?: string;
  readonly secret?: true;
  /** Whether a host that gives the setting's group of options must give the setting. */
  readonly required?: true;
  readonly meaning: string;
}

type Variable = Setting<unknown>["variable"];

function setting<T>(variable: Variable, kind: Kind<T>, fallback: string, meaning: string) {
  return { variable, kind, fallback, meaning } satisfies Setting<T>;
}

function optional<T>(variable: Variable, kind: Kind<T>, meaning: string): Setting<T> {
  return { variable, kind, meaning };
}

function required<T>(variable: Variable, kind: Kind<T>, meaning: string): Setting<T> {
  return { variable, kind, meaning, required: true };
}

function secret<T>(variable: Variable, kind: Kind<T>, meaning: string): Setting<T> {
  return { variable, kind, meaning, secret: true };
}

const port = integer(0, 65_535);

export const SETTINGS = {
  "service.host": setting("DRS_HOST", text, "127.0.0.1", "Address that the endpoint listens on."),
  "service.port": setting("DRS_PORT", port, "8080", "Port of the endpoint; 0 lets the system choose."),
  "service.admin.host": setting(
    "DRS_ADMIN_HOST",
    text,
    "127.0.0.1",
    "Address of the admin listener (`/livez`, `/readyz`, `/metrics`, and the admin API, which needs TLS off loopback).",
  ),
  "service.admin.tls.certFile": optional(
    "DRS_ADMIN_TLS_CERT_FILE",
    path,
    "Certificate chain of the admin listener in PEM; with it, the listener speaks HTTPS only.",
  ),
  "service.admin.tls.keyFile": optional("DRS_ADMIN_TLS_KEY_FILE", path, "Private key of that certificate."),
  "service.admin.hostNames": optional(
    "DRS_ADMIN_HOSTS",
    hostNames,
    "Further host names of the admin listener, separated by commas; IP addresses and loopback names always pass, others get 421.",
  ),
  "service.admin.port": setting(
    "DRS_ADMIN_PORT",
    port,
    "8081",
    "Port of the admin listener; 0 lets the system choose.",
  ),
  "service.admin.publicUrl": optional(
    "DRS_ADMIN_PUBLIC_URL",
    webBase,
    "Address of the admin listener in browsers, such as `https://admin.example`, with the path that a proxy removes if it publishes the pages below one; needed to sign in. `DRS_ADMIN_HOSTS` need not name its host.",
  ),
  "service.admin.console": setting(
    "DRS_CONSOLE",
    oneOf("on", "off"),
    "on",
    "Whether the admin listener serves the pages of the console; the admin API has the same operations without them.",
  ),
  "service.admin.workerUrl": optional(
    "DRS_WORKER_URL",
    webOrigin,
    "Admin listener of a worker, to which a process of the admin API that is no worker forwards calls for the worker's login.",
  ),
  "service.admin.oidc.issuer": optional(
    "DRS_OIDC_ISSUER",
    webUrl,
    "Let people sign in by OpenID Connect at this issuer.",
  ),
  "service.admin.oidc.clientId": optional("DRS_OIDC_CLIENT_ID", text, "Client id at that identity provider."),
  "service.admin.oidc.clientSecret": secret(
    "DRS_OIDC_CLIENT_SECRET",
    text,
    "Secret of that client. Absent: a public client, which PKCE protects.",
  ),
  "service.admin.oidc.roleFile": optional(
    "DRS_OIDC_ROLE_FILE",
    path,
    "YAML file that gives roles to values of the claim, and links identities to people; read again on SIGHUP.",
  ),
  "service.admin.oidc.rolesClaim": setting(
    "DRS_OIDC_ROLES_CLAIM",
    text,
    "groups",
    "Claim of the ID token, a text or a list of texts, by its name or by a path such as `realm_access.roles`. The role file gives roles to its values.",
  ),
  "service.admin.oidc.rolesSeparator": optional(
    "DRS_OIDC_ROLES_SEPARATOR",
    oneOf("space", "comma"),
    "What separates the values of that claim if it is one text. Absent: the text is one value.",
  ),
  "service.admin.oidc.nameClaim": optional(
    "DRS_OIDC_NAME_CLAIM",
    text,
    "Claim of the ID token, such as `name`, that is shown next to a person. It decides nothing. Absent: no names are stored.",
  ),
  "service.admin.oidc.scopes": setting(
    "DRS_OIDC_SCOPES",
    scopes,
    "openid",
    "Scopes to ask for, separated by commas; `openid` is one of them.",
  ),
  "service.admin.database.url": secret(
    "DRS_ADMIN_DATABASE_URL",
    postgresUrl,
    "The events' database by the login of the admin API, which reads payloads by `reveal_event` and `reveal_features` alone. Absent: the login of `DRS_DATABASE_URL`.",
  ),
  "service.admin.database.pool": setting(
    "DRS_ADMIN_DATABASE_POOL",
    integer(1, 200),
    "4",
    "Connections of the admin API. They are in a separate pool, so that a slow request does not delay ingestion.",
  ),
  "service.approvals": setting(
    "DRS_APPROVALS",
    oneOf("on", "off"),
    "on",
    "Whether large or sensitive operations through the admin API need the approval of a second person (see access.md); `off` is for installations of one person.",
  ),
  "service.approvalEvents": setting(
    "DRS_APPROVAL_EVENTS",
    integer(0, 1_000_000_000),
    "1000",
    "Number of events that a person may remove in 24 hours through the admin API without an approval, by erasures, by policies that make events expire earlier, and by lifted holds. An event of which only derived values are left counts too, and an erasure without events counts as one.",
  ),
  "service.openedEventsLimit": setting(
    "DRS_OPENED_EVENTS_LIMIT",
    integer(1, 1_000_000),
    "25",
    "Number of events that a person may open in 24 hours through the admin API without an approval. More events need a case and an approval by privacy.",
  ),
  "service.exportedAccountsLimit": setting(
    "DRS_EXPORTED_ACCOUNTS_LIMIT",
    integer(0, 1_000_000),
    "5",
    "Number of accounts that a person may export in 24 hours through the admin API without an approval. An export by an admin token always needs an approval.",
  ),
  "service.remote.url": optional(
    "DRS_ADMIN_URL",
    webUrl,
    "For commands: URL of the admin API that they call. Absent: they work on the database.",
  ),
  "service.remote.token": secret("DRS_ADMIN_TOKEN", text, "For commands: the admin token of their user."),
  "database.directory": setting("DRS_DATA_DIR", path, "./.data", "Where the embedded PostgreSQL keeps its cluster."),
  "database.url": secret(
    "DRS_DATABASE_URL",
    postgresUrl,
    "An external PostgreSQL (15 or later). Absent: the embedded one.",
  ),
  "database.migrationUrl": secret(
    "DRS_MIGRATION_DATABASE_URL",
    postgresUrl,
    "The same database by the login that owns the tables. Absent: the login of `DRS_DATABASE_URL` owns them too.",
  ),
  "service.databaseDiskBytes": optional(
    "DRS_DATABASE_DISK_BYTES",
    integer(1_000_000_000, 999_999_999_999_999),
    "Size of the disk of the external PostgreSQL, which the server can't see. You declare it; `drs doctor` and the admin API compute from it how long the disk lasts.",
  ),
  "database.pool": setting(
    "DRS_DATABASE_POOL",
    integer(2, 200),
    "8",
    "Connections in the pool. If several processes receive events, each has an equal part of them, but at least 4, or all if there are fewer than 4. Commit batches, retention passes, monitoring and the owner's login use other connections.",
  ),
  "keys.directory": optional(
    "DRS_KEY_DIR",
    path,
    "Key store in a directory. Default with the embedded database: `./.keys`. Never inside the data directory.",
  ),
  "keys.databaseUrl": secret(
    "DRS_KEY_DATABASE_URL",
    postgresUrl,
    "Key store in a PostgreSQL of its own; not the cluster that holds the events.",
  ),
  "keys.encryptionKey": secret(
    "DRS_KEY_ENCRYPTION_KEY",
    key256,
    "32 bytes that wrap everything in the key store; the variable has them in base64.",
  ),
  "keys.previousEncryptionKey": secret(
    "DRS_PREVIOUS_KEY_ENCRYPTION_KEY",
    key256,
    "The previous key-encryption key, until `drs key rotate` has wrapped every secret under the new one.",
  ),
  "keys.encryptionKeyFile": optional(
    "DRS_KEY_ENCRYPTION_KEY_FILE",
    path,
    "File with one or more key-encryption keys, one a line: the last one wraps, all of them unwrap. Without a configured source, the server makes a key next to the wrapped secrets if it starts the embedded database: for development, not for production.",
  ),
  "keys.encryptionKeyCommand": secret(
    "DRS_KEY_ENCRYPTION_KEY_COMMAND",
    argumentList,
    "Command that prints what the file would hold; the variable has a JSON array of the program and its arguments. It runs without a shell and without `DRS_` variables.",
  ),
  "throttle.ratePerSecond": setting(
    "DRS_THROTTLE_RATE",
    integer(0, 1_000_000),
    "50",
    "Requests per second of one account, on each server; requests with a large body or many members count more than once. 0 is off.",
  ),
  "throttle.burst": setting(
    "DRS_THROTTLE_BURST",
    integer(1, 1_000_000),
    "100",
    "Requests that an account may send at once.",
  ),
  "limits.maxBodyBytes": setting(
    "DRS_MAX_BODY_BYTES",
    integer(1_024, 16_777_216),
    String(LIMITS.bodyBytes),
    "Largest decompressed request body.",
  ),
  "limits.requestTimeoutMs": setting(
    "DRS_REQUEST_TIMEOUT",
    durationWithin("1s", "1h"),
    "30s",
    "Time for a request to arrive in full; in an embedding host, for its body.",
  ),
  "limits.maxAgeMs": setting("DRS_MAX_AGE", duration, "24h", "How old `collected_at` may be."),
  "limits.maxFutureMs": setting(
    "DRS_MAX_FUTURE",
    duration,
    "5m",
    "How far `collected_at` may be ahead of the server's clock.",
  ),
  sessionBinding: setting(
    "DRS_SESSION_BINDING",
    oneOf("off", "record", "enforce"),
    "record",
    "What to do when `session_id` is not the action's session value: ignore it, write an audit entry, or answer 403.",
  ),
  "actions.signingSecret": secret(
    "DRS_ACTION_SIGNING_SECRET",
    sharedSecret,
    "Secret of signed action ids (at least 32 bytes); with it, ids of the form `v1.…` are verified without the table.",
  ),
  "sessions.jwt.jwksUrl": optional(
    "DRS_JWT_JWKS_URL",
    webUrl,
    "Verify session tokens as JWTs by the keys at this URL.",
  ),
  "sessions.jwt.secret": secret(
    "DRS_JWT_SECRET",
    sharedSecret,
    "Verify session tokens as JWTs by this shared secret (at least 32 bytes).",
  ),
  "sessions.jwt.issuer": required("DRS_JWT_ISSUER", text, "Required `iss` of a JWT."),
  "sessions.jwt.audience": required("DRS_JWT_AUDIENCE", text, "Required `aud` of a JWT."),
  "sessions.jwt.algorithms": optional(
    "DRS_JWT_ALGORITHMS",
    list,
    "Accepted algorithms. Default: `HS256` with a secret, `RS256,PS256,ES256,EdDSA` with a JWKS. `none` and algorithms of the other kind are a configuration error.",
  ),
  "sessions.jwt.accountClaim": setting("DRS_JWT_ACCOUNT_CLAIM", text, "sub", "Claim that names the account."),
  "sessions.jwt.clockSkewMs": setting(
    "DRS_JWT_CLOCK_SKEW",
    durationWithin("0s", "5m"),
    "30s",
    "Tolerated clock difference for `exp` and `nbf`; at most 5m.",
  ),
  "sessions.introspection.url": required(
    "DRS_INTROSPECTION_URL",
    webUrl,
    "Verify session tokens by RFC 7662 introspection at this URL.",
  ),
  "sessions.introspection.clientId": optional(
    "DRS_INTROSPECTION_CLIENT_ID",
    text,
    "Client id for the introspection request.",
  ),
  "sessions.introspection.clientSecret": secret(
    "DRS_INTROSPECTION_CLIENT_SECRET",
    text,
    "Client secret for the introspection request.",
  ),
  "sessions.introspection.accountClaim": setting(
    "DRS_INTROSPECTION_ACCOUNT_CLAIM",
    text,
    "sub",
    "Member of the introspection answer that names the account.",
  ),
  "journal.receiptFile": optional(
    "DRS_ERASURE_RECEIPT_FILE",
    path,
    "File of a recent receipt: the server does not start if the erasure journal ends before the entry that the receipt names.",
  ),
  "retention.replayWindowMs": setting(
    "DRS_REPLAY_WINDOW",
    durationWithin("1h", "3650d"),
    "30d",
    "How long an idempotency key is remembered after its event has expired or was erased.",
  ),
  "retention.countsMs": setting(
    "DRS_COUNT_RETENTION",
    durationWithin("1h", "3650d"),
    "400d",
    "How long the hourly counts of probe outcomes and rejections are kept.",
  ),
  "journal.directory": optional(
    "DRS_ERASURE_JOURNAL",
    path,
    "Directory of the erasure journal, apart from events and keys. Default with the embedded database: `./.erasures`.",
  ),
  "journal.databaseUrl": secret(
    "DRS_ERASURE_JOURNAL_DATABASE_URL",
    postgresUrl,
    "Erasure journal in a PostgreSQL of its own, where several hosts share it.",
  ),
  "audit.checkpointDirectory": optional(
    "DRS_AUDIT_CHECKPOINTS",
    path,
    "Directory that keeps the checkpoints of the audit log, in addition to the erasure journal. Use a directory of another system, in which administrators of the database can't write.",
  ),
  "audit.keyFile": optional(
    "DRS_AUDIT_KEY_FILE",
    path,
    "File of the MAC keys of audit entries: each line has a surface (`ingest`, `admin`, `worker`, `direct`) and 32 bytes in base64. Give each process the lines of its own surface; give workers and commands all lines. Without it, each process derives all keys from the installation secret.",
  ),
  "audit.retentionMs": setting(
    "DRS_AUDIT_RETENTION",
    durationWithin("30d", "36500d"),
    "730d",
    "How long audit entries are kept: `drs audit prune` deletes older ones.",
  ),
  "audit.reasonRetentionMs": setting(
    "DRS_AUDIT_REASON_RETENTION",
    durationWithin("0s", "3650d"),
    "180d",
    "How long reasons and details of audit entries about an account remain readable after its erasure, and how long other texts of operators are kept, such as those of ended cases.",
  ),
  "retention.keyBackupMs": optional(
    "DRS_KEY_BACKUP_RETENTION",
    duration,
    "How long you keep backups of the key store. You declare it; receipts use it, the server deletes no backup.",
  ),
  "retention.backupMs": optional(
    "DRS_BACKUP_RETENTION",
    duration,
    "How long you keep backups of the events. You declare it; receipts use it, the server deletes no backup.",
  ),
  "retention.intervalMs": setting(
    "DRS_RETENTION_INTERVAL",
    durationWithin("1s", "24h"),
    "10s",
    "How often a worker runs a retention pass: it deletes expired events, and finishes interrupted erasures.",
  ),
  "retention.heldDestructionDelayMs": setting(
    "DRS_HELD_DESTRUCTION_DELAY",
    durationWithin("0s", "30d"),
    "0s",
    "How long the secret of a dropped partition is kept if a hold keeps events of that time: longer than an asynchronous standby may lag.",
  ),
  adoptedFieldsFile: optional(
    "DRS_ADOPTED_FIELDS_FILE",
    path,
    "JSON file of the fields that features read: in these an event must match the catalog. A change is read within 2 s.",
  ),
  "features.worker": setting(
    "DRS_FEATURE_WORKER",
    flag,
    "true",
    "Whether the server computes adopted features. With false, `drs feature work` does it, in a process of its own.",
  ),
  "service.reasonMinLength": setting(
    "DRS_REASON_MIN_LENGTH",
    integer(1, 500),
    "8",
    "Minimum number of characters of a `--reason`, without blanks around it; four of them must differ.",
  ),
  "service.tls.certFile": optional(
    "DRS_TLS_CERT_FILE",
    path,
    "Certificate chain in PEM; re-read when the file changes and on SIGHUP.",
  ),
  "service.tls.keyFile": optional(
    "DRS_TLS_KEY_FILE",
    path,
    "Private key in PEM, re-read together with the certificate.",
  ),
  "service.tls.terminatedByProxy": setting(
    "DRS_TLS_TERMINATED_BY_PROXY",
    flag,
    "false",
    "Set to true if a proxy in front terminates TLS; otherwise the server refuses to start with plain HTTP beyond loopback.",
  ),
  "service.proxyHops": setting(
    "DRS_TRUSTED_PROXY_HOPS",
    integer(0, 10),
    "0",
    "How many proxies in front append to `X-Forwarded-For`; the source address is taken that many entries from its end.",
  ),
  "limits.maxRequests": setting(
    "DRS_MAX_REQUESTS",
    integer(1, 100_000),
    "1024",
    "Maximum number of concurrent requests; above it, 503.",
  ),
  "limits.maxBufferBytes": setting(
    "DRS_MAX_BUFFER_BYTES",
    integer(1_048_576, 4_294_967_296),
    String(64 * 1024 * 1024),
    "Maximum bytes of request bodies in memory; above it, 503.",
  ),
  dependencyTimeoutMs: setting(
    "DRS_DEPENDENCY_TIMEOUT",
    durationWithin("100ms", "10m"),
    "5s",
    "Time limit of a call to the database, the key store, the erasure journal, the directory of audit checkpoints, the JWKS, the introspection endpoint or the identity provider, and of a run of the command that prints the key-encryption key.",
  ),
  "service.processes": setting(
    "DRS_PROCESSES",
    integer(1, 64),
    "1",
    "Number of processes that receive events. If it is 1, the server itself receives them.",
  ),
  "service.drainTimeoutMs": setting(
    "DRS_DRAIN_TIMEOUT",
    durationWithin("0s", "24h"),
    "25s",
    "How long SIGTERM waits for accepted requests; a second later the server stops waiting for dependencies.",
  ),
  "service.callTimeoutMs": setting(
    "DRS_ORDER_TIMEOUT",
    durationWithin("1s", "7d"),
    "12h",
    "How long a worker applies one call of the admin API; then the call ends with `call-timed-out`.",
  ),
  "service.logLevel": setting(
    "DRS_LOG_LEVEL",
    oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    "info",
    "Least level of the structured log on standard error.",
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type Path = keyof typeof SETTINGS;

/** All paths, in the order of `docs/configuration.md`. */
export const PATHS = Object.keys(SETTINGS) as readonly Path[];

/** Paths of the options of `createEndpoint`: all settings except those of the standalone service and the commands. */
export const OPTION_PATHS: readonly Path[] = PATHS.filter((path) => !path.startsWith("service."));

export const settingOf = (path: Path): Setting<unknown> => SETTINGS[path];

/** The values by path. Only the value of a setting without `fallback` can be `undefined`. */
export type SettingValues = {
  readonly [P in Path]: (typeof SETTINGS)[P] extends { kind: Kind<infer T>; fallback: string }
    ? T
    : (typeof SETTINGS)[P] extends { kind: Kind<infer T> }
      ? T | undefined
      : never;
};
