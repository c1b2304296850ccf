import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Role } from "@device-risk-signals/admin-api";
import type { Clock } from "../../base/ports.ts";
import type { Executor, OwnerTransaction } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { query, sql } from "../../store/postgres/statement.ts";

/** The form of a token: `drs_adm_` and 32 random bytes in base64url. */
const ADMIN_TOKEN = /^drs_adm_[A-Za-z0-9_-]{43}$/;

/** Whether a text has the form of an admin token or of the token of a login. */
export const hasTokenForm = (text: string): boolean => ADMIN_TOKEN.test(text);

/** The maximum lifetime of a token: 90 days. */
export const MAX_TTL_MS = 90 * 86_400_000;

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

export interface IssuedAdminToken {
  readonly token: string;
  readonly token_id: string;
  readonly person: string;
  readonly roles: readonly Role[];
  readonly expires_at: string;
}

const INSERT_TOKEN = sql(
  `insert into admin_token (token_hash, token_id, person, roles, is_initial, issued_at, expires_at, obtained_by)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
  ["bytea", "uuid", "text", "text[]", "bool", "timestamptz", "timestamptz", "text?"],
);

export interface NewAdminToken {
  readonly person: string;
  readonly roles: readonly Role[];
  readonly ttlMs: number;
  /** Whether `npm start` issued the token. The next `npm start` revokes it. */
  readonly isInitial?: boolean;
  /** The person who obtains the token through the admin API; absent if a command with the owner's login issues it. */
  readonly obtainedBy?: string;
}

/** Issues a token. The token is returned only once, because only its hash is stored. */
export async function issueAdminToken(
  owner: OwnerTransaction,
  clock: Clock,
  { person, roles, ttlMs, isInitial = false, obtainedBy }: NewAdminToken,
): Promise<IssuedAdminToken> {
  const token = `drs_adm_${randomBytes(32).toString("base64url")}`;
  const tokenId = randomUUID();
  const now = clock.now();
  const expiresAt = new Date(now + ttlMs).toISOString();
  await query(owner, INSERT_TOKEN, [
    hashOf(token),
    tokenId,
    person,
    [...roles],
    isInitial,
    new Date(now).toISOString(),
    expiresAt,
    obtainedBy ?? null,
  ]);
  return { token, token_id: tokenId, person, roles, expires_at: expiresAt };
}

export interface AdminTokenRow {
  readonly token_id: string;
  readonly person: string;
  readonly obtained_by: string | null;
  readonly roles: Role[];
  readonly issued_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

const LIST_TOKENS = sql(
  `select token_id, person, obtained_by, roles, ${instant("issued_at")}, ${instant("expires_at")}, ${instant("last_used_at")},
      ${instant("revoked_at")}
    from admin_token where ${isAfter("admin_token.issued_at", "$1", { token_id: "$2::uuid" })}
    order by admin_token.issued_at desc, token_id limit $3::int4`,
  ["timestamptz?", "uuid?", "int4"],
  {
    token_id: "uuid",
    person: "text",
    obtained_by: "text?",
    roles: "text[]",
    issued_at: "text",
    expires_at: "text",
    last_used_at: "text?",
    revoked_at: "text?",
  },
);

/** Lists admin tokens, newest first. */
export async function listAdminTokens(executor: Executor, page: KeysetPage = FIRST_PAGE): Promise<AdminTokenRow[]> {
  const [at = null, id = null] = positionValues(page, 1);
  const { rows } = await query(executor, LIST_TOKENS, [at, id, page.limit]);
  return rows.map((row) => ({ ...row, roles: [...row.roles] as Role[] }));
}

const REVOKE_TOKEN = sql(
  "update admin_token set revoked_at = $2 where token_id = $1 and revoked_at is null returning person",
  ["uuid", "timestamptz"],
  { person: "text" },
);

/** @returns the person of the token; `undefined` if no token has the id, or if the token is already revoked. */
export async function revokeAdminToken(executor: Executor, clock: Clock, tokenId: string): Promise<string | undefined> {
  const { rows } = await query(executor, REVOKE_TOKEN, [tokenId, new Date(clock.now()).toISOString()]);
  return rows[0]?.person;
}

const REVOKE_TOKENS_OF = sql(
  `update admin_token set revoked_at = $2
    where (person = any ($1) or obtained_by = any ($1)) and revoked_at is null and expires_at > $2
    returning token_id, person`,
  ["text[]", "timestamptz"],
  { token_id: "uuid", person: "text" },
);

/** Revokes the tokens of people, and the tokens that they obtained for others. @returns the revoked tokens. */
export async function revokeTokensOf(executor: Executor, clock: Clock, people: readonly string[]) {
  return (await query(executor, REVOKE_TOKENS_OF, [[...people], new Date(clock.now()).toISOString()])).rows;
}

const REVOKE_INITIAL = sql(
  "update admin_token set revoked_at = $1 where is_initial and revoked_at is null returning token_id",
  ["timestamptz"],
  { token_id: "uuid" },
);

/** Revokes the tokens that `npm start` issued before. @returns the ids of the revoked tokens. */
export async function revokeInitialTokens(executor: Executor, clock: Clock): Promise<readonly string[]> {
  const { rows } = await query(executor, REVOKE_INITIAL, [new Date(clock.now()).toISOString()]);
  return rows.map(({ token_id }) => token_id);
}

export interface AdminTokenHolder {
  readonly token_id: string;
  readonly person: string;
  /** The person who obtained the token through the admin API; `null` if a command with the owner's login issued it. */
  readonly obtained_by: string | null;
  readonly roles: readonly Role[];
  readonly expires_at: string;
  /** Which of the two people a role file has listed. */
  readonly listed: readonly string[];
}

const LISTED = `array(select l.person from listed_person l
      where l.person in (admin_token.person, admin_token.obtained_by)) as listed`;
const FIND_TOKEN = sql(
  `select token_id, person, obtained_by, roles, ${LISTED}, ${instant("expires_at")},
      coalesce(last_used_at < $2::timestamptz - interval '1 minute', true) as is_use_due
    from admin_token where token_hash = $1
      -- guard(true): a revoked token is refused
      and revoked_at is null
      -- guard(true): an expired token is refused
      and expires_at > $2`,
  ["bytea", "timestamptz"],
  {
    token_id: "uuid",
    person: "text",
    obtained_by: "text?",
    roles: "text[]",
    listed: "text[]",
    expires_at: "text",
    is_use_due: "bool",
  },
);
const FIND_HOLDERS_OF_OBTAINED = sql(
  "select distinct person from admin_token where obtained_by = any ($1) and expires_at > transaction_time() - interval '1 day'",
  ["text[]"],
  { person: "text" },
);

/**
 * Finds the people for whom one of `persons` obtained a token. Skips tokens that expired more than 24 hours ago, but
 * not tokens that were revoked.
 */
export async function findHoldersOfObtainedTokens(
  executor: Executor,
  persons: readonly string[],
): Promise<readonly string[]> {
  return (await query(executor, FIND_HOLDERS_OF_OBTAINED, [[...persons]])).rows.map(({ person }) => person);
}

const RECORD_USE = sql(
  `update admin_token set last_used_at = $2 where token_id =
    -- guard: a row that another transaction has locked does not stop the requests of its token
    (select token_id from admin_token where token_id = $1 for no key update skip locked)`,
  ["uuid", "timestamptz"],
);

/**
 * Finds the holder of a token. Updates the time of its last use at most once a minute.
 * @returns `undefined` if the token does not exist, has expired or is revoked.
 */
export async function findHolder(
  executor: Executor,
  clock: Clock,
  token: string,
): Promise<AdminTokenHolder | undefined> {
  const now = new Date(clock.now()).toISOString();
  const row = (await query(executor, FIND_TOKEN, [hashOf(token), now])).rows[0];
  if (!row) return undefined;
  const { token_id, person, obtained_by, roles, listed, expires_at, is_use_due } = row;
  if (is_use_due) await query(executor, RECORD_USE, [token_id, now]);
  return { token_id, person, obtained_by, roles: roles as readonly Role[], listed, expires_at };
}

const RECORD_LISTED = sql("insert into listed_person (person) select unnest($1::text[]) on conflict do nothing", [
  "text[]",
]);

/** Records that a role file has listed the people. */
export async function recordListed(executor: Executor, people: readonly string[]): Promise<void> {
  await query(executor, RECORD_LISTED, [[...people]]);
}
