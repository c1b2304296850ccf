import { createPublicKey, type KeyObject } from "node:crypto";
import {
  calculateJwkThumbprint,
  compactVerify,
  CompactSign,
  errors,
  exportJWK,
  importJWK,
  importSPKI,
  type JWK,
} from "jose";
import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { ed25519Key } from "../../store/crypto/ed25519-key.ts";
import type { Secrets } from "../../store/crypto/secrets.ts";

const ALGORITHM = "Ed25519";
const TYPE = "drs-receipt+jws";
/** The name of the signing secret in the key store. */
const SECRET = "receipts/1";

/**
 * Signs receipts with Ed25519 (RFC 8037, RFC 9864). A receipt is a JWS in compact form (RFC 7515), whose payload is
 * JSON.
 */
export interface ReceiptSigner {
  sign(receipt: object): Promise<string>;
  /** SPKI in PEM. */
  readonly publicKey: string;
  /** JWK thumbprint (RFC 7638). */
  readonly keyId: string;
}

/** Opens the signer. Its key is a secret of the key store, which the first call creates. @throws Unavailable */
export async function receiptSigner(secrets: Secrets): Promise<ReceiptSigner> {
  return signerOf(await secrets.findOrCreate(SECRET));
}

/** Opens the signer, but creates no key. @returns `undefined` if the key does not exist yet. @throws Unavailable */
export async function findReceiptSigner(secrets: Secrets): Promise<ReceiptSigner | undefined> {
  const seed = await secrets.find(SECRET);
  return seed && signerOf(seed);
}

async function signerOf(seed: Buffer): Promise<ReceiptSigner> {
  const privateKey = ed25519Key(seed);
  const publicKey = createPublicKey(privateKey);
  const keyId = await calculateJwkThumbprint(await exportJWK(publicKey));
  return {
    publicKey: publicKey.export({ format: "pem", type: "spki" }),
    keyId,
    sign: (receipt) =>
      new CompactSign(Buffer.from(JSON.stringify(receipt)))
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: keyId })
        .sign(privateKey),
  };
}

const NO_RECEIPT = "it is no receipt in the form of a JWS";

/**
 * Returns the content of a receipt that the given key has signed. A key inside the receipt is never used. @param
 * publicKey SPKI in PEM, or a JWK. @throws receipt-invalid
 */
export async function verifyReceipt(receipt: string, publicKey: string): Promise<Record<string, unknown>> {
  const key = await readPublicKey(publicKey);
  const text = receipt.replace(/\r?\n$/, "");
  // Base64url can spell the same bytes in several ways (RFC 4648, section 3.5); only the canonical spelling is
  // accepted.
  const parts = text.split(".");
  const isCanonical = parts.every((part) => Buffer.from(part, "base64url").toString("base64url") === part);
  // guard(false): a receipt has one spelling
  if (parts.length !== 3 || !isCanonical) throw new OperatorError("receipt-invalid", NO_RECEIPT);
  try {
    const { payload, protectedHeader } = await compactVerify(text, key, { algorithms: [ALGORITHM] });
    // guard(drop): a text of another type is no receipt, even if the key of receipts signed it
    if (protectedHeader.typ !== TYPE) throw new OperatorError("receipt-invalid", "it is signed, but it is no receipt");
    return JSON.parse(Buffer.from(payload).toString()) as Record<string, unknown>;
  } catch (cause) {
    if (hasCode(cause, "receipt-invalid")) throw cause;
    const forged = cause instanceof errors.JWSSignatureVerificationFailed;
    throw new OperatorError("receipt-invalid", forged ? "the given key did not sign this content" : NO_RECEIPT, {
      cause,
    });
  }
}

async function readPublicKey(text: string): Promise<KeyObject | CryptoKey | Uint8Array> {
  try {
    if (text.trimStart().startsWith("{")) {
      const { kty, crv, x } = JSON.parse(text) as JWK;
      return await importJWK({ kty, crv, x } as JWK, ALGORITHM);
    }
    return await importSPKI(text.trim(), ALGORITHM);
  } catch (cause) {
    throw new OperatorError("receipt-invalid", "the public key is no Ed25519 key in PEM (SPKI) or JWK", { cause });
  }
}
