import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { KeyStore } from "./key-store.ts";

const SECRET_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;
const FORMAT = 1;

/** A wrapped secret that this key-encryption key does not open, or that was changed. */
export class WrapBroken extends Error {
  override readonly name = "WrapBroken";
}

/** Named random secrets in a key store, each wrapped by the key-encryption key (AES-256-GCM, bound to its name). */
export class Secrets {
  readonly #store: KeyStore;
  readonly #key: Buffer;
  readonly #keyId: Buffer;
  /** Secrets that are being made: whoever asks for one meanwhile waits for the same. */
  readonly #making = new Map<string, Promise<Buffer>>();

  constructor(store: KeyStore, keyEncryptionKey: Buffer) {
    this.#store = store;
    this.#key = keyEncryptionKey;
    this.#keyId = createHash("sha256")
      .update("drs key id\0")
      .update(keyEncryptionKey)
      .digest()
      .subarray(0, KEY_ID_BYTES);
  }

  async find(name: string): Promise<Buffer | undefined> {
    const wrapped = await this.#store.read(name);
    return wrapped && this.#unwrap(name, wrapped);
  }

  /** Durable before it is returned. Whoever comes second gets the secret of whoever came first. */
  findOrCreate(name: string): Promise<Buffer> {
    const making = this.#making.get(name) ?? this.#findOrCreate(name).finally(() => this.#making.delete(name));
    this.#making.set(name, making);
    return making;
  }

  /** What was sealed under it can't be opened any more, once the last backup of the key store is gone. */
  destroy(name: string): Promise<void> {
    return this.#store.destroy(name);
  }

  async #findOrCreate(name: string): Promise<Buffer> {
    const found = await this.find(name);
    if (found) return found;
    const standing = await this.#store.create(name, this.#wrap(name, randomBytes(SECRET_BYTES)));
    return this.#unwrap(name, standing);
  }

  #wrap(name: string, secret: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(name));
    const head = Buffer.concat([Buffer.of(FORMAT), this.#keyId, nonce]);
    return Buffer.concat([head, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  #unwrap(name: string, wrapped: Buffer): Buffer {
    const nonceAt = 1 + KEY_ID_BYTES;
    const secretAt = nonceAt + NONCE_BYTES;
    if (wrapped.length !== secretAt + SECRET_BYTES + TAG_BYTES || wrapped[0] !== FORMAT) {
      throw new WrapBroken("a secret in the key store is not of a form that this version knows");
    }
    if (!wrapped.subarray(1, nonceAt).equals(this.#keyId)) {
      throw new WrapBroken("a secret in the key store was wrapped by another key-encryption key");
    }
    const decipher = createDecipheriv("aes-256-gcm", this.#key, wrapped.subarray(nonceAt, secretAt));
    decipher.setAAD(Buffer.from(name)).setAuthTag(wrapped.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(wrapped.subarray(secretAt, -TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new WrapBroken("a secret in the key store was changed", { cause });
    }
  }
}
