import { createHash, randomBytes, randomUUID } from "node:crypto";
import { ensureAccountId } from "../../store/accounts/accounts.ts";
import { type Clock, type Session, type SessionVerifier } from "../../base/ports.ts";
import { asUnavailable } from "../../store/postgres/errors.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { MicroBatcher } from "../../store/postgres/micro-batcher.ts";
import { byteaArray } from "../../store/postgres/binary-array.ts";
import { instant } from "../../store/postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { query, sql } from "../../store/postgres/statement.ts";

/** `drs_` and 32 random bytes in base64url. */
const TOKEN = /^drs_[A-Za-z0-9_-]{43}$/;

export const isOpaqueToken = (token: string): boolean => TOKEN.test(token);

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

export interface IssuedToken {
  readonly token: string;
  readonly token_id: string;
  readonly account: string;
  readonly expires_at: string;
}

const ISSUE_TOKEN = sql(
  "insert into session_token (token_hash, token_id, account, issued_at, expires_at) values ($1, $2, $3, $4, $5)",
  ["bytea", "uuid", "text", "timestamptz", "timestamptz"],
);

/** Issues a token. Only the hash of its text is stored, so no later call can return the token again. */
export async function issueToken(
  executor: Executor,
  clock: Clock,
  account: string,
  ttlMs: number,
): Promise<IssuedToken> {
  const token = `drs_${randomBytes(32).toString("base64url")}`;
  const tokenId = randomUUID();
  const issuedAt = clock.now();
  const expiresAt = new Date(issuedAt + ttlMs).toISOString();
  await ensureAccountId(executor, account);
  await query(executor, ISSUE_TOKEN, [hashOf(token), tokenId, account, new Date(issuedAt).toISOString(), expiresAt]);
  return { token, token_id: tokenId, account, expires_at: expiresAt };
}

const REVOKE_TOKEN = sql(
  "update session_token set revoked_at = $2 where token_id = $1 and revoked_at is null returning account",
  ["uuid", "timestamptz"],
  { account: "text" },
);

/** @returns the account of the token; `undefined` if no token has the id, or if the token was revoked before. */
export async function revokeToken(executor: Executor, clock: Clock, tokenId: string): Promise<string | undefined> {
  const { rows } = await query(executor, REVOKE_TOKEN, [tokenId, new Date(clock.now()).toISOString()]);
  return rows[0]?.account;
}

// guard(no-rows): tokens of the account are deleted
const DELETE_TOKENS = sql("delete from session_token where account = $1", ["text"]);

/** Deletes the tokens of an account. @returns the number of deleted tokens. */
export async function deleteTokens(executor: Executor, account: string): Promise<number> {
  return (await query(executor, DELETE_TOKENS, [account])).rowCount ?? 0;
}

const COUNT_TOKENS = sql("select count(*) as count from session_token where account = $1", ["text"], { count: "int8" });

export async function countTokens(executor: Executor, account: string): Promise<number> {
  return (await query(executor, COUNT_TOKENS, [account])).rows[0]?.count ?? 0;
}

export interface TokenRow {
  readonly token_id: string;
  readonly account: string;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

const LIST_TOKENS = sql(
  `select token_id, account, ${instant("issued_at")}, ${instant("expires_at")}, ${instant("revoked_at")}
      from session_token where ($1::text is null or account = $1)
        and ${isAfter("session_token.issued_at", "$2", { token_id: "$3::uuid" })}
      order by session_token.issued_at desc, token_id limit $4::int4`,
  ["text?", "timestamptz?", "uuid?", "int4"],
  { token_id: "uuid", account: "text", issued_at: "text", expires_at: "text", revoked_at: "text?" },
);

/** Lists tokens, newest first. */
export async function listTokens(
  executor: Executor,
  account: string | undefined,
  page: KeysetPage = FIRST_PAGE,
): Promise<readonly TokenRow[]> {
  const [at = null, id = null] = positionValues(page, 1);
  const { rows } = await query(executor, LIST_TOKENS, [account ?? null, at, id, page.limit]);
  return rows;
}

const OPAQUE_TOKEN_VERIFIER = sql(
  `select token_hash, account, extract(epoch from expires_at)::float8 * 1000 as expires_ms
      from session_token where token_hash = any ($1::bytea[])
        -- guard(true): revoked tokens are refused
        and revoked_at is null`,
  ["bytea[]"],
  { token_hash: "bytea", account: "text", expires_ms: "float8" },
);

/**
 * Verifies tokens that this system issued. Look-ups that arrive together share one query, and only one query runs at a
 * time, so that a flood of bad tokens can't overload the database.
 */
export function opaqueTokenVerifier(executor: Executor, clock: Clock): SessionVerifier {
  const lookUps = new MicroBatcher<Buffer, Session | undefined>({ work: findAll, maxItems: 256, parallelBatches: 1 });

  async function findAll(hashes: readonly Buffer[]): Promise<readonly (Session | undefined)[]> {
    const { rows } = await query(executor, OPAQUE_TOKEN_VERIFIER, [byteaArray(hashes)]).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    const found = new Map(rows.map((row) => [row.token_hash.toString("hex"), row]));
    return hashes.map((hash) => {
      const row = found.get(hash.toString("hex"));
      return row && { account: row.account, expiresAt: row.expires_ms };
    });
  }

  return {
    async verify(token) {
      if (!isOpaqueToken(token)) return undefined;
      const session = await lookUps.add(hashOf(token));
      // guard(left): expired tokens are refused
      return session?.expiresAt !== undefined && session.expiresAt > clock.now() ? session : undefined;
    },
  };
}
