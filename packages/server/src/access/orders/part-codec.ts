/**
 * Seals the parts of an answer for the only process that relays them. That process makes a key pair (X25519) for each
 * order and never stores it. After the process has ended, nothing can open the parts in archives and backups of the
 * database.
 */
import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from "node:crypto";
import { decrypt, encrypt } from "../../store/crypto/authenticated-encryption.ts";
import { deriveKey } from "../../store/crypto/derive-key.ts";
import { uuidBytes } from "../../store/crypto/pseudonymizer.ts";

const VERSION = 1;
const PUBLIC_KEY_BYTES = 32;

/** Opens the parts of one order. */
export class PartReader {
  /** The public key of 32 bytes (RFC 7748), which the order names. */
  readonly publicKey: Buffer;
  readonly #privateKey: KeyObject;
  readonly #sender: KeyObject;

  /** @param sender a key derived from the installation secret, without which no program can seal a part. */
  constructor(sender: KeyObject, privateKey = generateKeyPairSync("x25519").privateKey) {
    this.publicKey = bytesOf(createPublicKey(privateKey));
    this.#privateKey = privateKey;
    this.#sender = sender;
  }

  /** @returns `undefined` if the bytes are not this part of this order, sealed for this reader. */
  open(orderId: string, number: number, sealed: Buffer): unknown {
    const publicKey = sealed.subarray(0, PUBLIC_KEY_BYTES);
    try {
      const shared = diffieHellman({ privateKey: this.#privateKey, publicKey: publicKeyOf(publicKey) });
      const key = partKey(shared, this.#sender, publicKey, this.publicKey);
      const bytes = sealed.subarray(PUBLIC_KEY_BYTES);
      return decrypt(
        key,
        (version) => associatedData(version, orderId, number),
        bytes,
        (_, text) => JSON.parse(text.toString()) as unknown,
      );
    } catch {
      return undefined;
    }
  }
}

/** Seals the parts of one order. */
export class PartWriter {
  readonly #publicKey: Buffer;
  readonly #key: KeyObject;

  /** @param readerKey the public key of the reader. @throws if it is no public key of X25519. */
  constructor(sender: KeyObject, readerKey: Buffer) {
    const { publicKey, privateKey } = generateKeyPairSync("x25519");
    this.#publicKey = bytesOf(publicKey);
    const shared = diffieHellman({ privateKey, publicKey: publicKeyOf(readerKey) });
    this.#key = partKey(shared, sender, this.#publicKey, readerKey);
  }

  /** Seals by AES-256-GCM, as `public key of the writer (32) | 1 | nonce (12) | ciphertext | tag (16)`. */
  seal(orderId: string, number: number, value: unknown): Buffer {
    const text = Buffer.from(JSON.stringify(value));
    return Buffer.concat([
      this.#publicKey,
      encrypt(this.#key, VERSION, associatedData(VERSION, orderId, number), text),
    ]);
  }
}

const partKey = (shared: Buffer, sender: KeyObject, writerKey: Buffer, readerKey: Buffer): KeyObject =>
  deriveKey(Buffer.concat([shared, sender.export(), writerKey, readerKey]), "order part");

const associatedData = (version: number, orderId: string, number: number): Buffer =>
  Buffer.concat([Buffer.from([version]), uuidBytes(orderId), Buffer.from(`part ${number}`)]);

const bytesOf = (publicKey: KeyObject): Buffer => Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");

const publicKeyOf = (bytes: Buffer): KeyObject =>
  createPublicKey({ key: { kty: "OKP", crv: "X25519", x: bytes.toString("base64url") }, format: "jwk" });
