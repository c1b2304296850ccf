import { createPrivateKey, type KeyObject } from "node:crypto";

/** PKCS #8 of an Ed25519 key (RFC 8410), up to the 32 bytes of the key itself. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** The private key (RFC 8032) of a secret of 32 bytes. */
export const ed25519Key = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
