/** Sign-ins in progress: each is bound to one browser by a cookie, and is used once. */
import { createHash, hkdfSync, randomBytes } from "node:crypto";
import type { Clock } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { query, sql } from "../postgres/statement.ts";
import type { SignInSecrets } from "./identity-provider.ts";

/** The maximum time that a person may take at the identity provider. */
export const ATTEMPT_MS = 600_000;

/** Where a sign-in ends: at a page of the console, or at the loopback address of a command. */
export type Destination =
  | { readonly kind: "console"; readonly path: string }
  | {
      readonly kind: "login";
      readonly redirectUri: string;
      /** A text of the command, which is returned to it unchanged. */
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

/** @returns the secret for the browser's cookie. */
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

/** @returns the attempt, which can't be taken again; `undefined` if it does not exist or has expired. */
export async function takeAttempt(executor: Executor, clock: Clock, secret: string): Promise<Attempt | undefined> {
  const row = (await query(executor, TAKE_ATTEMPT, [hashOf(secret), new Date(clock.now()).toISOString()])).rows[0];
  return row?.is_current ? (JSON.parse(row.attempt) as Attempt) : undefined;
}

/**
 * Derives the values that the identity provider repeats. They come from the secret in the browser's cookie, so that the
 * database contains none of them. The attempt is a part of the input, so that a changed attempt does not match.
 */
export function secretsOf(secret: string, attempt: Attempt): SignInSecrets {
  const derive = (use: string): string =>
    Buffer.from(
      hkdfSync("sha256", secret, JSON.stringify(attempt), `device-risk-signals sign-in ${use} v1`, 32),
    ).toString("base64url");
  return { state: derive("state"), nonce: derive("nonce"), codeVerifier: derive("code verifier") };
}
