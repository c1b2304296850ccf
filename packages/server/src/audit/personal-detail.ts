/**
 * Seals and opens reason and detail of an entry. The secret is of the account that the entry is about, or of the
 * installation.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey } from "../store/crypto/derive-key.ts";
import { uuidBytes } from "../store/crypto/pseudonymizer.ts";
import type { Secrets } from "../store/crypto/secrets.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { findSecrets, insertSecret } from "./audit-secret-table.ts";
import type { AuditSigner } from "./audit-signer.ts";
import type { AuditRecord } from "../store/audit-record/record.ts";

/** The parts of an entry that people wrote, or that contain data about people. */
export interface PersonalDetail {
  readonly reason?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

export type SealedDetail = Required<Pick<AuditRecord, "secretId" | "sealed">>;

interface DetailOwner {
  readonly entryId: string;
  /** The keyed MAC of the account. Without it, a secret of the installation is used. */
  readonly subject: Buffer | undefined;
}

/** The parts of `AuditSigner` that compute the ids of secrets and find the secrets. */
type SecretSigner = Pick<AuditSigner, "secrets" | "secretIdsOf">;

const CIPHER = "aes-256-gcm";
const VERSION = Buffer.from([1]);
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = VERSION.length + NONCE_BYTES;

export const auditSecretName = (secretId: string): string => `audit/${secretId}`;

const keyOf = (secret: Buffer): ReturnType<typeof deriveKey> => deriveKey(secret, "audit detail");

/**
 * Seals reason and detail by AES-256-GCM, with the id of the entry as associated data. The sealed bytes are
 * `1 | nonce (12) | ciphertext | tag (16)`.
 * @returns `undefined` if there is no reason and no detail. @throws Unavailable
 */
export async function sealDetail(
  executor: Executor,
  signer: SecretSigner,
  { entryId, subject }: DetailOwner,
  personal: PersonalDetail,
): Promise<SealedDetail | undefined> {
  if (personal.reason === undefined && personal.detail === undefined) return undefined;
  const { secretId, secret } = await currentSecret(executor, signer, subject);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(secret), nonce).setAAD(uuidBytes(entryId));
  const text = Buffer.concat([cipher.update(JSON.stringify(personal)), cipher.final()]);
  return { secretId, sealed: Buffer.concat([VERSION, nonce, text, cipher.getAuthTag()]) };
}

/** @returns `undefined` if the secret is destroyed or lost, or if the bytes were changed. @throws Unavailable */
export async function openDetail(
  secrets: Secrets,
  { entryId, secretId, sealed }: Pick<AuditRecord, "entryId" | "secretId" | "sealed">,
): Promise<PersonalDetail | undefined> {
  if (secretId === undefined || !sealed || sealed.length < HEAD_BYTES + TAG_BYTES) return undefined;
  const secret = await secrets.findDurable(auditSecretName(secretId));
  if (!secret) return undefined;
  const nonce = sealed.subarray(VERSION.length, HEAD_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(secret), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(uuidBytes(entryId)).setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString()) as PersonalDetail;
  } catch {
    // No error, because `drs audit verify` reports a changed record.
    return undefined;
  }
}

/**
 * The latest active secret of an account or of the installation, or a new one if there is none or the key store has
 * lost it. Two writers at the same time may create a secret each; an erasure ends both.
 */
async function currentSecret(
  executor: Executor,
  signer: SecretSigner,
  subject: Buffer | undefined,
): Promise<{ readonly secretId: string; readonly secret: Buffer }> {
  const { secrets } = signer;
  const ids = signer.secretIdsOf(subject);
  const foundSecrets = await findSecrets(executor, ids, subject);
  const latest = foundSecrets.secrets.findLast(({ is_ended }) => !is_ended);
  const readable = latest && (await secrets.findDurable(auditSecretName(latest.secret_id)));
  if (latest && readable) return { secretId: latest.secret_id, secret: readable };
  for (let number = foundSecrets.next; ; number++) {
    const secretId = ids(number);
    const name = auditSecretName(secretId);
    // A number without a row may be that of a destroyed secret, if the database was restored to a time before the
    // secret.
    // guard(false): no secret gets the name of a destroyed one
    if ((await secrets.findDestroyed([name])).length > 0) continue;
    const secret = await secrets.findOrCreate(name);
    if (await insertSecret(executor, secretId, subject)) return { secretId, secret };
  }
}
