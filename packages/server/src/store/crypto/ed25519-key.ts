import { createPrivateKey, type KeyObject } from "node:crypto";

/** The bytes of an Ed25519 key in PKCS #8 (RFC 8410) that precede the 32 bytes of the key itself. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** The private key (RFC 8032) that a secret of 32 bytes defines. */
export const ed25519Key = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
