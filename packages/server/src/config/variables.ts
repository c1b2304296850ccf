/** Every environment variable, declared once: the parser, `drs config` and `docs/configuration.md` derive from it. */
import { LIMITS } from "@device-risk-signals/contract";
import {
  duration,
  durationWithin,
  flag,
  hostNames,
  integer,
  key256,
  list,
  oneOf,
  postgresUrl,
  type Read,
  sharedSecret,
  text,
  webUrl,
} from "./values.ts";

export interface Variable<T> {
  readonly read: Read<T>;
  /** As it would be written in the environment; absent means that there is none. */
  readonly fallback?: string;
  readonly secret?: true;
  readonly meaning: string;
}

function variable<T>(read: Read<T>, fallback: string, meaning: string): Variable<T> & { readonly fallback: string } {
  return { read, fallback, meaning };
}

function optional<T>(read: Read<T>, meaning: string): Variable<T> {
  return { read, meaning };
}

function secret<T>(read: Read<T>, meaning: string): Variable<T> {
  return { read, meaning, secret: true };
}

const port = integer(0, 65_535);
const postgres = postgresUrl;

export const VARIABLES = {
  DRS_HOST: variable(text, "127.0.0.1", "Address that the endpoint listens on."),
  DRS_PORT: variable(port, "8080", "Port of the endpoint; 0 lets the system choose."),
  DRS_ADMIN_HOST: variable(text, "127.0.0.1", "Address of the admin listener (`/livez`, `/readyz`, `/metrics`)."),
  DRS_ADMIN_HOSTS: optional(
    hostNames,
    "Further host names of the admin listener, separated by commas; IP addresses and loopback names always pass, others get 421.",
  ),
  DRS_ADMIN_PORT: variable(port, "8081", "Port of the admin listener; 0 lets the system choose."),
  DRS_DATA_DIR: variable(text, "./.data", "Where the embedded PostgreSQL keeps its cluster."),
  DRS_DATABASE_URL: secret(postgres, "An external PostgreSQL (15 or later). Absent: the embedded one."),
  DRS_MIGRATION_DATABASE_URL: secret(
    postgres,
    "The same database by the login that owns the tables. Absent: `DRS_DATABASE_URL` owns them too.",
  ),
  DRS_DATABASE_POOL: variable(integer(2, 200), "8", "Connections of this process for everything but commit batches."),
  DRS_KEY_DIR: optional(
    text,
    "Key store in a directory. Default with the embedded database: `./.keys`. Never inside the data directory.",
  ),
  DRS_KEY_DATABASE_URL: secret(
    postgres,
    "Key store in a PostgreSQL of its own; not the cluster that holds the events.",
  ),
  DRS_KEY_ENCRYPTION_KEY: secret(key256, "32 bytes in base64 that wrap everything in the key store."),
  DRS_PREVIOUS_KEY_ENCRYPTION_KEY: secret(
    key256,
    "The previous key-encryption key, until `drs key rotate` has wrapped every secret under the new one.",
  ),
  DRS_KEY_ENCRYPTION_KEY_FILE: optional(
    text,
    "File with one or more key-encryption keys, one a line: the last one wraps, all of them unwrap. With the embedded default the server makes one next to the wrapped secrets: for development, not for production.",
  ),
  DRS_THROTTLE_RATE: variable(
    integer(0, 1_000_000),
    "50",
    "Requests per second and account, by process; large and wide ones count more than once. 0 is off.",
  ),
  DRS_THROTTLE_BURST: variable(integer(1, 1_000_000), "100", "Requests that an account may send at once."),
  DRS_MAX_BODY_BYTES: variable(
    integer(1_024, 16_777_216),
    String(LIMITS.bodyBytes),
    "Largest decompressed request body.",
  ),
  DRS_MAX_AGE: variable(duration, "24h", "How old `collected_at` may be."),
  DRS_MAX_FUTURE: variable(duration, "5m", "How far `collected_at` may be ahead of the server's clock."),
  DRS_SESSION_BINDING: variable(
    oneOf("off", "record", "enforce"),
    "record",
    "What to do when `session_id` is not the action's session value: no action, an audit entry, or a 403.",
  ),
  DRS_ACTION_SIGNING_SECRET: secret(
    sharedSecret,
    "Secret of signed action ids (at least 32 bytes); with it, ids of the form `v1.…` are verified without the table.",
  ),
  DRS_JWT_JWKS_URL: optional(webUrl, "Verify session tokens as JWTs by the keys at this URL."),
  DRS_JWT_SECRET: secret(sharedSecret, "Verify session tokens as JWTs by this shared secret (at least 32 bytes)."),
  DRS_JWT_ISSUER: optional(text, "Required `iss` of a JWT."),
  DRS_JWT_AUDIENCE: optional(text, "Required `aud` of a JWT."),
  DRS_JWT_ALGORITHMS: optional(
    list,
    "Accepted algorithms. Default: `HS256` with a secret, `RS256,PS256,ES256,EdDSA` with a JWKS. `none` and algorithms of the other kind are a configuration error.",
  ),
  DRS_JWT_ACCOUNT_CLAIM: variable(text, "sub", "Claim that names the account."),
  DRS_JWT_CLOCK_SKEW: variable(
    durationWithin("0s", "5m"),
    "30s",
    "Tolerated clock difference for `exp` and `nbf`; at most 5m.",
  ),
  DRS_INTROSPECTION_URL: optional(webUrl, "Verify session tokens by RFC 7662 introspection at this URL."),
  DRS_INTROSPECTION_CLIENT_ID: optional(text, "Client id for the introspection request."),
  DRS_INTROSPECTION_CLIENT_SECRET: secret(text, "Client secret for the introspection request."),
  DRS_INTROSPECTION_ACCOUNT_CLAIM: variable(text, "sub", "Member of the introspection answer that names the account."),
  DRS_ERASURE_RECEIPT_FILE: optional(
    text,
    "File of a recent receipt: the server does not start if the erasure journal ends before the entry that the receipt names.",
  ),
  DRS_REPLAY_WINDOW: variable(
    durationWithin("1h", "3650d"),
    "30d",
    "How long an idempotency key is remembered after its event has expired or was erased.",
  ),
  DRS_ERASURE_JOURNAL: optional(
    text,
    "Directory of the erasure journal, apart from events and keys. Default with the embedded database: `./.erasures`.",
  ),
  DRS_ERASURE_JOURNAL_DATABASE_URL: secret(
    postgres,
    "Erasure journal in a PostgreSQL of its own, where several hosts share it.",
  ),
  DRS_KEY_BACKUP_RETENTION: optional(
    duration,
    "How long backups of the key store are kept: declared here, stated in receipts.",
  ),
  DRS_BACKUP_RETENTION: optional(
    duration,
    "How long backups of the events are kept: declared here, stated in receipts.",
  ),
  DRS_RETENTION_INTERVAL: variable(durationWithin("1s", "24h"), "10s", "How often a server deletes expired events."),
  DRS_ADOPTED_FIELDS_FILE: optional(
    text,
    "JSON file of the fields that features read: in these an event must match the catalog. A change is read within 2 s.",
  ),
  DRS_REASON_MIN_LENGTH: variable(
    integer(1, 500),
    "8",
    "Minimum number of characters of a `--reason`, without blanks around it; four of them must differ.",
  ),
  DRS_TLS_CERT_FILE: optional(text, "Certificate chain in PEM; re-read when the file changes and on SIGHUP."),
  DRS_TLS_KEY_FILE: optional(text, "Private key in PEM, re-read together with the certificate."),
  DRS_TLS_TERMINATED_BY_PROXY: variable(
    flag,
    "false",
    "Set to true if a proxy in front terminates TLS; otherwise the server refuses to start with plain HTTP beyond loopback.",
  ),
  DRS_TRUSTED_PROXY_HOPS: variable(
    integer(0, 10),
    "0",
    "How many proxies in front append to `X-Forwarded-For`; the source address is taken that many entries from its end.",
  ),
  DRS_REQUEST_TIMEOUT: variable(durationWithin("1s", "1h"), "30s", "Time for a request to arrive in full."),
  DRS_MAX_REQUESTS: variable(integer(1, 100_000), "1024", "Maximum number of concurrent requests; above it, 503."),
  DRS_MAX_BUFFER_BYTES: variable(
    integer(1_048_576, 4_294_967_296),
    String(64 * 1024 * 1024),
    "Maximum bytes of request bodies in memory; above it, 503.",
  ),
  DRS_DEPENDENCY_TIMEOUT: variable(
    durationWithin("100ms", "10m"),
    "5s",
    "How long a call to the database, the key store, the erasure journal, the JWKS or the introspection endpoint may take.",
  ),
  DRS_DRAIN_TIMEOUT: variable(
    durationWithin("0s", "24h"),
    "25s",
    "How long SIGTERM waits for accepted requests; a second later the server stops waiting for dependencies.",
  ),
  DRS_LOG_LEVEL: variable(
    oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    "info",
    "Least level of the structured log on standard error.",
  ),
} as const satisfies Record<string, Variable<unknown>>;

export type VariableName = keyof typeof VARIABLES;

/** The values as read: `undefined` only where a variable has no fallback. */
export type Values = {
  readonly [Name in VariableName]: (typeof VARIABLES)[Name] extends { read: Read<infer T>; fallback: string }
    ? T
    : (typeof VARIABLES)[Name] extends { read: Read<infer T> }
      ? T | undefined
      : never;
};
