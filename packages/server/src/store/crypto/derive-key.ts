import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

/** The use of a derived key. No key has two uses. */
export type KeyUse =
  | "event"
  | "feature"
  | "hold"
  | "held feature"
  | "installation check"
  | "request mac"
  | "ledger names"
  | "erasure journal"
  | "admin sessions"
  | "approvals"
  | "audit reviews"
  | "audit verifications"
  | "drift decisions"
  | "audit ingest"
  | "audit admin"
  | "audit worker"
  | "audit direct"
  | "audit detail";

/** HKDF-SHA-256 (RFC 5869) with a length of 32 bytes. The salt is empty, because the material is random. */
export function deriveKey(material: Buffer, use: KeyUse): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", material, "", `device-risk-signals ${use} v1`, 32)));
}
