import { DatabaseError } from "../../base/driver.ts";
import { placeOf, readDatabaseUrl } from "../../base/config/database-url.ts";
import { Unavailable } from "../../base/ports.ts";
import { isAwayState, SQL_STATES } from "./sql-states.ts";

/** The database of a connection, for messages. */
export interface NamedDatabase {
  /** The name of the dependency, such as `key store`. */
  readonly title: string;
  /** `login@host:port/database` */
  readonly place: string;
  /** The variable and the option that name the database. Absent for the embedded one. */
  readonly setting: string | undefined;
}

/** What happened, as a sentence without its subject, and what an operator can do about it. */
type Failure = readonly [what: string, cure: string];

const AUTHORITY: Failure = [
  "has a certificate of an unknown authority",
  "name the file of its authority in sslrootcert=, or sslrootcert=system for the authorities of the operating system",
];

/** Failures of a database that answers, by SQLSTATE, by the code of an error of Node, or by a message of `pg`. */
const FAILURES: Readonly<Record<string, Failure>> = {
  [SQL_STATES.invalidPassword]: ["refuses the login or its password", "correct them"],
  [SQL_STATES.invalidAuthorizationSpecification]: [
    "refuses the login",
    "correct it, or allow it from this host, with or without TLS, in pg_hba.conf",
  ],
  [SQL_STATES.invalidCatalogName]: ["has no database of this name", "create it, or correct the name"],
  [SQL_STATES.tooManyConnections]: [
    "has no connection left",
    "raise max_connections or the limit of the login, or lower the pools of the processes",
  ],
  [SQL_STATES.diskFull]: ["has no space left on device", "free some space"],
  // PgBouncer rejects start-up parameters, and transactions in statement mode, with this SQLSTATE.
  [SQL_STATES.protocolViolation]: [
    "is behind a pooler that refuses start-up parameters or transactions of this server",
    "set pool_mode = session, and name options, statement_timeout and idle_in_transaction_session_timeout in " +
      "ignore_startup_parameters (Poolers in docs/operator/databases.md)",
  ],
  "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string": [
    "asks for a password, and there is none",
    "add it",
  ],
  "The server does not support SSL connections": ["speaks no TLS", "turn its ssl on, or set sslmode=disable"],
  SELF_SIGNED_CERT_IN_CHAIN: AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: AUTHORITY,
  CERT_HAS_EXPIRED: ["has an expired certificate", "renew it"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["has a certificate for another host", "connect by a name that the certificate has"],
  ENOTFOUND: ["has an unknown host name", "correct it, or the name service"],
};

/** Failures of a database that does not answer. It may come back, so readiness names only the outage. */
const FAILURES_TO_REACH: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: ["can't be reached: connection refused", "check that it runs, and its host and port"],
  ENOENT: ["can't be reached: no socket", "check that it runs, and the folder of its socket"],
};

export interface SetDatabase {
  readonly connectionString?: string | undefined;
  readonly setting?: string | undefined;
}

/** The place and the setting of a database that a setting names, in brackets; an empty text for another one. */
export function whereOf({ connectionString = "", setting }: SetDatabase): string {
  const read = readDatabaseUrl(connectionString);
  return setting === undefined || "problem" in read ? "" : ` (${placeOf(read.value)}; ${setting})`;
}

/**
 * An error of a connection that could not be made, or of a full disk or a pooler, which any statement can notice. Its
 * message names the store, what happened, the cure, the place and the setting. `cause` is the driver's error, by whose code `errors.ts` decides.
 */
export class ConnectError extends Unavailable {
  override readonly cause: Error;

  /** @param failure for a cause whose code does not say enough. */
  constructor(cause: Error, { title, place, setting }: NamedDatabase, failure?: Failure) {
    const { code } = cause as NodeJS.ErrnoException;
    const state = cause instanceof DatabaseError ? code : undefined;
    const known = failure ?? FAILURES[code ?? cause.message];
    const reason = state === undefined ? code : `SQLSTATE ${state}`;
    const describe = ([what, cure]: Failure): string =>
      `${what}${reason === undefined ? "" : ` (${reason})`}: ${cure} (${[place, setting].filter(Boolean).join("; ")})`;
    if (known || (state !== undefined && !isAwayState(state))) {
      const problem = describe(known ?? ["refuses the connection", "look the SQLSTATE up"]);
      super(`the ${title} ${problem}`, { code: "dependency-unusable", detail: { problem }, cause });
    } else {
      const outage = FAILURES_TO_REACH[code ?? ""] ?? ["can't be reached", "check host, port, network and firewall"];
      super(`the ${title} ${describe(outage)}`, { cause });
    }
    this.cause = cause;
  }
}
