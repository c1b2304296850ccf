/** Verifies a receipt in the browser: a JWS in compact form (RFC 7515), signed by Ed25519 (RFC 8037). */

import { base64Bytes } from "./base64.ts";

export type Receipt = Readonly<Record<string, unknown>>;

export type Verification =
  | { readonly isValid: true; readonly receipt: Receipt }
  | { readonly isValid: false; readonly why: string };

const TYPE = "drs-receipt+jws";
const ALGORITHM = "Ed25519";
const NO_RECEIPT = "This is no receipt. A receipt is a text of three parts that points separate.";

/** @param publicKey SPKI in PEM, as the installation shows it. */
export async function verifyReceipt(text: string, publicKey: string): Promise<Verification> {
  const parts = text.trim().split(".");
  const decoded = parts.map(bytesOf);
  const [header, payload, signature] = decoded;
  // guard: a receipt has one spelling
  if (parts.length !== 3 || !header || !payload || !signature) return { isValid: false, why: NO_RECEIPT };
  const head = objectOf(header);
  const receipt = objectOf(payload);
  // guard: a text of another type is no receipt, even if the key of receipts signed it
  if (!head || !receipt || head["typ"] !== TYPE || head["alg"] !== ALGORITHM) {
    return { isValid: false, why: NO_RECEIPT };
  }
  const signed = new TextEncoder().encode(`${parts[0]}.${parts[1]}`);
  const key = await crypto.subtle.importKey("spki", derOf(publicKey), ALGORITHM, false, ["verify"]);
  const isSigned = await crypto.subtle.verify(ALGORITHM, key, signature, signed);
  if (isSigned) return { isValid: true, receipt };
  return {
    isValid: false,
    why: "The key of this installation did not sign this text: it was changed, or is of another.",
  };
}

/** The bytes of base64url in its canonical spelling (RFC 4648, section 3.5). */
function bytesOf(part: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined;
  try {
    const bytes = base64Bytes(part.replaceAll("-", "+").replaceAll("_", "/"));
    const spelled = btoa(String.fromCharCode(...bytes));
    return spelled.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "") === part ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function objectOf(bytes: Uint8Array): Receipt | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Receipt) : undefined;
  } catch {
    return undefined;
  }
}

const derOf = (pem: string): Uint8Array<ArrayBuffer> => base64Bytes(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ""));
