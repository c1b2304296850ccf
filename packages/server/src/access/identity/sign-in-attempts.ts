/** Sign-ins in progress: a cookie binds each to one browser, and the callback can complete it only once. */
import { createHash, hkdfSync, randomBytes } from "node:crypto";
import type { Clock } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import type { SignInSecrets } from "./identity-provider.ts";

/** The maximum time in milliseconds from the start of a sign-in to its callback. */
export const ATTEMPT_MS = 600_000;

/**
 * Where a sign-in sends the browser at its end: to a page of the console, or to the loopback address of `drs login`.
 */
export type Destination =
  | { readonly kind: "console"; readonly path: string }
  | {
      readonly kind: "login";
      readonly redirectUri: string;
      /** A text that the command chose, and that the redirect returns to it unchanged. */
      readonly state: string;
      readonly codeChallenge: string;
    };

export interface Attempt {
  readonly destination: Destination;
  /**
   * The maximum number of seconds since the last authentication at the identity provider; `null` if there is no
   * maximum.
   */
  readonly maxAge: number | null;
}

const INSERT_ATTEMPT = sql("insert into sign_in_attempt (secret_hash, attempt, expires_at) values ($1, $2, $3)", [
  "bytea",
  "text",
  "timestamptz",
]);
const DELETE_EXPIRED = sql("delete from sign_in_attempt where expires_at <= $1", ["timestamptz"]);
const TAKE_ATTEMPT = sql(
  "delete from sign_in_attempt where secret_hash = $1 returning attempt, expires_at > $2 as is_current",
  ["bytea", "timestamptz"],
  { attempt: "text", is_current: "bool" },
);

const hashOf = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Stores a new attempt, and deletes expired ones. @returns the secret for the browser's cookie. */
export async function beginAttempt(executor: Executor, clock: Clock, attempt: Attempt): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  const now = clock.now();
  await query(executor, DELETE_EXPIRED, [new Date(now).toISOString()]);
  await query(executor, INSERT_ATTEMPT, [
    hashOf(secret),
    JSON.stringify(attempt),
    new Date(now + ATTEMPT_MS).toISOString(),
  ]);
  return secret;
}

/**
 * Deletes an attempt, so that it can't be used again.
 * @returns the attempt; `undefined` if it does not exist or has expired.
 */
export async function takeAttempt(executor: Executor, clock: Clock, secret: string): Promise<Attempt | undefined> {
  const row = (await query(executor, TAKE_ATTEMPT, [hashOf(secret), new Date(clock.now()).toISOString()])).rows[0];
  return row?.is_current ? (JSON.parse(row.attempt) as Attempt) : undefined;
}

/**
 * Derives the values that bind the sign-in to the browser. They are derived from the secret in the browser's cookie, so
 * that the database contains none of them, and from the attempt, so that an attempt that was changed in the database
 * does not match.
 */
export function secretsOf(secret: string, attempt: Attempt): SignInSecrets {
  const derive = (use: string): string =>
    Buffer.from(
      hkdfSync("sha256", secret, JSON.stringify(attempt), `device-risk-signals sign-in ${use} v1`, 32),
    ).toString("base64url");
  return { state: derive("state"), nonce: derive("nonce"), codeVerifier: derive("code verifier") };
}
