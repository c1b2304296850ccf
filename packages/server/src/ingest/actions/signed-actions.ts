import { createHash, timingSafeEqual } from "node:crypto";
import { LIMITS } from "@device-risk-signals/contract";
import type { ActionRefusal, ActionRegistry, Clock, RegisteredAction } from "../../base/ports.ts";
import { macOf } from "../../store/crypto/mac.ts";

const SIGNED_ID_PREFIX = "v1.";
const TAG_BYTES = 18;
const SESSION_BYTES = 9;
/** `v1.` type `.` expiry `.` session `.` nonce `.` tag, all of the URL-safe alphabet. */
const SIGNED_ID_FORM =
  /^v1\.([A-Za-z0-9_-]{1,86})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{12})?\.([A-Za-z0-9_-]{1,22})\.([A-Za-z0-9_-]{24})$/;

export interface SignedAction {
  readonly account: string;
  readonly actionType: string;
  /** The session value for which the action is issued. */
  readonly sessionId?: string;
  /** Milliseconds since the Unix epoch; stored in whole seconds. */
  readonly expiresAt: number;
  /** Distinguishes actions of one account, type and second: 1 to 22 URL-safe characters. */
  readonly nonce: string;
}

/**
 * Makes an action id that the server can verify without a look-up: it carries type, expiry, a digest of the session, a
 * nonce, and an HMAC-SHA-256 of these and the account. A host that has the secret can issue actions without a request
 * to this server.
 *
 * @throws TypeError if the type is empty, if the nonce or the expiry is invalid, or if the id would be longer than the
 * 128 characters of the contract. A type of at most 42 bytes in UTF-8 always fits.
 */
export function signActionId(secret: string, action: SignedAction): string {
  const type = Buffer.from(action.actionType).toString("base64url");
  const expiry = Math.floor(action.expiresAt / 1000).toString(36);
  const session = action.sessionId === undefined ? "" : sessionDigest(action.sessionId);
  const signed = `${SIGNED_ID_PREFIX}${type}.${expiry}.${session}.${action.nonce}`;
  const id = `${signed}.${tagOf(secret, action.account, signed)}`;
  if (!SIGNED_ID_FORM.test(id))
    throw new TypeError("the nonce or the action type has a form that a signed action id can't carry");
  if (id.length > LIMITS.actionId) throw new TypeError("the action type is too long for a signed action id");
  return id;
}

/**
 * Whether an id has the prefix of signed ids. If a signing secret is configured, such an id is not looked up in the
 * table.
 */
export const looksSigned = (actionId: string): boolean => actionId.startsWith(SIGNED_ID_PREFIX);

/** Verifies signed ids without a look-up, and passes ids of any other form to `otherwise`. */
export function signedActions(secret: string, otherwise: ActionRegistry, clock: Clock): ActionRegistry {
  return {
    async find(account, actionId, sessionId) {
      if (!looksSigned(actionId)) return otherwise.find(account, actionId, sessionId);
      return verify(secret, account, actionId, sessionId, clock);
    },
  };
}

function verify(
  secret: string,
  account: string,
  id: string,
  sessionId: string,
  clock: Clock,
): RegisteredAction | ActionRefusal | undefined {
  const [, type = "", expiry = "", session = "", , tag = ""] = SIGNED_ID_FORM.exec(id) ?? [];
  if (tag === "") return undefined;
  const expected = Buffer.from(tagOf(secret, account, id.slice(0, id.lastIndexOf("."))));
  if (!timingSafeEqual(expected, Buffer.from(tag))) return undefined;
  const expiresAt = Number.parseInt(expiry, 36) * 1000;
  if (expiresAt <= clock.now()) return "expired";
  const action = { actionType: Buffer.from(type, "base64url").toString(), expiresAt };
  if (session === "") return action;
  // The id has only a digest of the session. A session with this digest is the session of the action. Any other session
  // is reported as different.
  const same = timingSafeEqual(Buffer.from(sessionDigest(sessionId)), Buffer.from(session));
  return { ...action, sessionId: same ? sessionId : `${session} (digest)` };
}

function tagOf(secret: string, account: string, signed: string): string {
  return macOf(secret, JSON.stringify([account, signed]))
    .subarray(0, TAG_BYTES)
    .toString("base64url");
}

function sessionDigest(sessionId: string): string {
  return createHash("sha256").update(sessionId).digest().subarray(0, SESSION_BYTES).toString("base64url");
}
