/** Sessions of people who signed in: console sessions with a cookie, and sessions of `drs login` with a token. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Role } from "@device-risk-signals/admin-api";
import type { Clock } from "../../base/ports.ts";
import type { RowSigner, SignedValues } from "../../store/crypto/row-signer.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { narrowed, query, sql } from "../../store/postgres/statement.ts";

/**
 * The kind of a session. A `code` authorizes no request: `drs login` exchanges it for a session of the kind `login`.
 * Nor does a `link`: a browser on loopback exchanges it for a session of the kind `console`.
 */
export type SessionKind = "console" | "login" | "code" | "link";

const LIFETIME_MS: Readonly<Record<SessionKind, number>> = {
  console: 10 * 3_600_000,
  login: 8 * 3_600_000,
  code: 60_000,
  link: 600_000,
};
const PREFIX: Readonly<Record<SessionKind, string>> = { console: "", login: "drs_adm_", code: "", link: "" };

/** A person whom a sign-in has identified. */
export interface SignedInPerson {
  readonly person: string;
  /** The `identityKey` of the identity with which the person signed in. */
  readonly identity: string;
  readonly roles: readonly Role[];
  /** The `grantKey` of each value of the claim that gave the roles. */
  readonly grants: readonly string[];
  /**
   * The time at which the person authenticated at the identity provider, in RFC 3339; `null` if the provider does not
   * report it.
   */
  readonly authenticatedAt: string | null;
}

export interface AdminSession extends SignedInPerson {
  readonly sessionId: string;
  readonly expiresAt: string;
}

export interface StartedSession extends AdminSession {
  /** The secret. It is returned only once, because only its hash is stored. */
  readonly secret: string;
}

const hashOf = (secret: string): Buffer => createHash("sha256").update(secret).digest();

const INSERT_SESSION = sql(
  `insert into admin_session (secret_hash, session_id, kind, person, identity, roles, granted_by, authenticated_at,
      code_challenge, started_at, last_used_at, expires_at, mac)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12)`,
  [
    "bytea",
    "uuid",
    "text",
    "text",
    "text",
    "text[]",
    "text[]",
    "timestamptz?",
    "text?",
    "timestamptz",
    "timestamptz",
    "bytea",
  ],
);

const SESSION_COLUMNS = `session_id, person, identity, roles, granted_by, ${instant("authenticated_at")},
      ${instant("expires_at")}, code_challenge, mac`;
const SESSION_TYPES = {
  session_id: "uuid",
  person: "text",
  identity: "text",
  roles: "text[]",
  granted_by: "text[]",
  authenticated_at: "text?",
  expires_at: "text",
  code_challenge: "text?",
  mac: "bytea",
} as const;

const FIND_SESSION = sql(
  `select ${SESSION_COLUMNS}, last_used_at < $3::timestamptz - interval '1 minute' as is_use_due
    from admin_session where secret_hash = $1 and kind = $2
      -- guard(true): a session that has ended is refused
      and ended_at is null
      -- guard(true): a session that has expired is refused
      and expires_at > $3
      -- guard(true): a console session that was not used for 30 minutes is refused
      and (kind <> 'console' or last_used_at > $3::timestamptz - interval '30 minutes')`,
  ["bytea", "text", "timestamptz"],
  { ...SESSION_TYPES, is_use_due: "bool" },
);
const FIND_BY_ID = sql(
  `select secret_hash, kind, ${SESSION_COLUMNS} from admin_session
    where session_id = $1 and kind in ('console', 'login') and ended_at is null and started_at <= $2 and expires_at > $2`,
  ["uuid", "timestamptz"],
  { ...SESSION_TYPES, secret_hash: "bytea", kind: narrowed<"console" | "login">("text") },
);
const RECORD_USE = sql(
  `update admin_session set last_used_at = $2 where session_id =
    -- guard: a row that another transaction has locked does not stop the requests of its session
    (select session_id from admin_session where session_id = $1 for no key update skip locked)`,
  ["uuid", "timestamptz"],
);
const TAKE_ONCE = sql(
  `with taken as (update admin_session set ended_at = $2
      where secret_hash = $1 and kind = $3 and ended_at is null returning *)
    select ${SESSION_COLUMNS} from taken`,
  ["bytea", "timestamptz", "text"],
  SESSION_TYPES,
);
const END_SESSION = sql(
  `update admin_session set ended_at = $2
    where session_id = $1 and ended_at is null and expires_at > $2 returning person`,
  ["uuid", "timestamptz"],
  { person: "text" },
);
const END_WIDER_SESSIONS = sql(
  `update admin_session set ended_at = $3
    where identity = $1 and ended_at is null and expires_at > $3 and not roles <@ $2::text[]
    returning session_id, person`,
  ["text", "text[]", "timestamptz"],
  { session_id: "uuid", person: "text" },
);

const LIST_SESSIONS = sql(
  `select session_id, kind, person, roles, ${instant("authenticated_at")}, ${instant("started_at")},
      ${instant("last_used_at")}, ${instant("expires_at")},
      (select i.name from signed_in_identity i where i.identity = admin_session.identity) as name
    from admin_session where kind in ('console', 'login') and ended_at is null and expires_at > $1
      and (kind <> 'console' or last_used_at > $1::timestamptz - interval '30 minutes')
      and ${isAfter("admin_session.started_at", "$2", { session_id: "$3::uuid" })}
    order by admin_session.started_at desc, session_id limit $4::int4`,
  ["timestamptz", "timestamptz?", "uuid?", "int4"],
  {
    session_id: "uuid",
    kind: narrowed<"console" | "login">("text"),
    person: "text",
    roles: narrowed<Role[]>("text[]"),
    authenticated_at: "text?",
    started_at: "text",
    last_used_at: "text",
    expires_at: "text",
    name: "text?",
  },
);

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();

/** Lists active sessions, newest first. */
export async function listSessions(executor: Executor, clock: Clock, page: KeysetPage = FIRST_PAGE) {
  const [at = null, id = null] = positionValues(page, 1);
  return (await query(executor, LIST_SESSIONS, [nowOf(clock), at, id, page.limit])).rows;
}

const LIST_SIGNED_IN = sql(
  "select session_id, identity, person, roles, granted_by as grants from admin_session where ended_at is null and expires_at > $1",
  ["timestamptz"],
  { session_id: "uuid", identity: "text", person: "text", roles: narrowed<Role[]>("text[]"), grants: "text[]" },
);

/** The sessions that have not ended, also idle ones, and codes that were not exchanged. */
export async function listSignedIn(executor: Executor, clock: Clock) {
  return (await query(executor, LIST_SIGNED_IN, [nowOf(clock)])).rows;
}

const END_SESSIONS_OF = sql(
  `update admin_session set ended_at = $2 where person = $1 and ended_at is null and expires_at > $2
    returning session_id`,
  ["text", "timestamptz"],
  { session_id: "uuid" },
);

/** Ends all sessions of a person. @returns their ids. */
export async function endSessionsOf(executor: Executor, clock: Clock, person: string): Promise<readonly string[]> {
  return (await query(executor, END_SESSIONS_OF, [person, nowOf(clock)])).rows.map(({ session_id }) => session_id);
}

/**
 * Ends a session, so that its next request is refused.
 * @returns the person of the session; `undefined` if the session does not exist, has ended or has expired.
 */
export async function endSession(executor: Executor, clock: Clock, sessionId: string): Promise<string | undefined> {
  return (await query(executor, END_SESSION, [sessionId, nowOf(clock)])).rows[0]?.person;
}

/**
 * Ends each session of an identity if the session has a role that the identity no longer has.
 * @returns the ended sessions.
 */
export async function endWiderSessions(
  executor: Executor,
  clock: Clock,
  identity: string,
  roles: readonly Role[],
): Promise<readonly { readonly session_id: string; readonly person: string }[]> {
  return (await query(executor, END_WIDER_SESSIONS, [identity, [...roles], nowOf(clock)])).rows;
}

/**
 * The sessions of an installation. Each session has a MAC under a key that the database does not contain, so that a
 * user of the database can't forge a session or change its roles.
 */
export class AdminSessions {
  readonly #signer: RowSigner;

  constructor(signer: RowSigner) {
    this.#signer = signer;
  }

  /**
   * @param codeChallenge for the kind `code`: the PKCE challenge (RFC 7636). Only the matching verifier can exchange
   * the code.
   */
  async start(
    executor: Executor,
    clock: Clock,
    kind: SessionKind,
    signedIn: SignedInPerson,
    codeChallenge: string | null = null,
  ): Promise<StartedSession> {
    const now = clock.now();
    const secret = `${PREFIX[kind]}${randomBytes(32).toString("base64url")}`;
    const session = {
      ...signedIn,
      sessionId: randomUUID(),
      expiresAt: new Date(now + LIFETIME_MS[kind]).toISOString(),
    };
    const hash = hashOf(secret);
    const { sessionId, person, identity, roles, grants, authenticatedAt, expiresAt } = session;
    await query(executor, INSERT_SESSION, [
      hash,
      sessionId,
      kind,
      person,
      identity,
      [...roles],
      [...grants],
      authenticatedAt,
      codeChallenge,
      nowOf(clock),
      expiresAt,
      this.#signer.sign(signedValues(hash, kind, session, codeChallenge)),
    ]);
    return { ...session, secret };
  }

  /** Finds the active session with this secret. Updates the time of its last use at most once a minute. */
  async find(
    executor: Executor,
    clock: Clock,
    kind: "console" | "login",
    secret: string,
  ): Promise<AdminSession | undefined> {
    const hash = hashOf(secret);
    const row = (await query(executor, FIND_SESSION, [hash, kind, nowOf(clock)])).rows[0];
    const session = row && this.#verified(hash, kind, row);
    if (session && row.is_use_due) await query(executor, RECORD_USE, [session.sessionId, nowOf(clock)]);
    return session;
  }

  /** Finds a session that has not ended by now, and that had started and not expired at the time `at` (RFC 3339). */
  async findById(
    executor: Executor,
    sessionId: string,
    at: string,
  ): Promise<(AdminSession & { readonly kind: "console" | "login" }) | undefined> {
    const row = (await query(executor, FIND_BY_ID, [sessionId, at])).rows[0];
    const session = row && this.#verified(row.secret_hash, row.kind, row);
    return session && { ...session, kind: row.kind };
  }

  /**
   * Exchanges a code for a session of the kind `login`. The first attempt ends the code, even an attempt with a wrong
   * verifier.
   */
  async exchange(
    executor: Executor,
    clock: Clock,
    code: string,
    codeVerifier: string,
  ): Promise<StartedSession | undefined> {
    const taken = await this.#takeOnce(executor, clock, "code", code);
    // guard(false): only the command that began a login exchanges its code
    if (taken?.codeChallenge !== challengeOf(codeVerifier)) return undefined;
    return this.start(executor, clock, "login", taken);
  }

  /**
   * Ends the link with this code. A link is made at the moment of the sign-in, so its use counts as one.
   * @returns who signs in by it; `undefined` if it does not exist, was used or has expired.
   */
  async redeemLink(executor: Executor, clock: Clock, code: string): Promise<SignedInPerson | undefined> {
    const taken = await this.#takeOnce(executor, clock, "link", code);
    return taken && { ...taken, authenticatedAt: nowOf(clock) };
  }

  async #takeOnce(executor: Executor, clock: Clock, kind: "code" | "link", secret: string) {
    const hash = hashOf(secret);
    const row = (await query(executor, TAKE_ONCE, [hash, nowOf(clock), kind])).rows[0];
    const session = row && this.#verified(hash, kind, row);
    // guard: a code or a link that has expired is refused
    if (!session || Date.parse(session.expiresAt) <= clock.now()) return undefined;
    return { ...session, codeChallenge: row.code_challenge };
  }

  #verified(hash: Buffer, kind: SessionKind, row: SessionRow): AdminSession | undefined {
    const session: AdminSession = {
      sessionId: row.session_id,
      person: row.person,
      identity: row.identity,
      roles: row.roles as readonly Role[],
      grants: row.granted_by,
      authenticatedAt: row.authenticated_at,
      expiresAt: row.expires_at,
    };
    // guard(true): a session that a login of the database wrote is refused
    return this.#signer.isSigned(signedValues(hash, kind, session, row.code_challenge), row.mac) ? session : undefined;
  }
}

function signedValues(
  hash: Buffer,
  kind: SessionKind,
  { sessionId, person, identity, roles, grants, authenticatedAt, expiresAt }: AdminSession,
  codeChallenge: string | null,
): SignedValues {
  const values = [kind, sessionId, person, identity, roles, grants, authenticatedAt, expiresAt, codeChallenge];
  return [hash.toString("hex"), ...values];
}

interface SessionRow {
  readonly session_id: string;
  readonly person: string;
  readonly identity: string;
  readonly roles: readonly string[];
  readonly granted_by: readonly string[];
  readonly authenticated_at: string | null;
  readonly expires_at: string;
  readonly code_challenge: string | null;
  readonly mac: Buffer;
}

/** The method `S256` of RFC 7636. */
const challengeOf = (codeVerifier: string): string => createHash("sha256").update(codeVerifier).digest("base64url");
