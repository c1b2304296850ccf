import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { OperatorError } from "../../base/errors/operator-error.ts";

/**
 * Wraps and unwraps secrets. Several versions of the key-encryption key can exist at once: the current version wraps,
 * and each version unwraps. An implementation may call a key-management service, so that its keys never leave the
 * service.
 */
export interface KeyEncryption {
  /** The source of the keys, for messages. */
  readonly description: string;
  /** The known versions, oldest first; the last one is the current one. */
  versions(): Promise<readonly string[]>;
  /** @param context the context to which the secret is bound. */
  wrap(secret: Buffer, context: Buffer): Promise<Buffer>;
  /** @throws secret-damaged, and the errors of `reload` */
  unwrap(wrapped: Buffer, context: Buffer): Promise<Buffer>;
  /** The version under which a secret is wrapped. @throws secret-damaged */
  versionOf(wrapped: Buffer): string;
  /** Makes a new version the current one. @throws key-versions-fixed if versions are made elsewhere. */
  rotate(): Promise<string>;
  /** Destroys a version. The caller must know that no secret is wrapped under it. @throws key-versions-fixed */
  destroy(version: string): Promise<void>;
  /**
   * If the keys of a source are kept in memory, reads them from the source again.
   * @returns whether keys are kept in memory. @throws key-source-unusable, key-file-unusable, Unavailable
   */
  reload(): Promise<boolean>;
}

const SECRET_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 8;
const NONCE_AT = 1 + KEY_ID_BYTES;
const SECRET_AT = NONCE_AT + NONCE_BYTES;
const FORMAT = 2;

/** A source of keys of 32 bytes, oldest first. */
export interface KeySource {
  /** The source of the keys, for messages. */
  readonly description: string;
  read(): Promise<readonly Buffer[]>;
  /** Searches for a key that `read` lacks. The method is absent if `read` itself asks the source. */
  search?(): Promise<readonly Buffer[]>;
  /**
   * Reads the source again, and the next `read` returns the result. The method is absent if `read` itself asks the
   * source.
   */
  reload?(): Promise<readonly Buffer[]>;
  /** Replaces the keys. The method is absent if this server can't change the keys of the source. */
  write?(keys: readonly Buffer[]): Promise<void>;
  /** Advice for operators on how to change the keys, for messages. */
  readonly advice: string;
}

/** The version of a key: the first 8 bytes of a hash of the key, in hexadecimal. */
export function versionOfKey(key: Buffer): string {
  return createHash("sha256")
    .update("drs key id\0")
    .update(key)
    .digest("hex")
    .slice(0, 2 * KEY_ID_BYTES);
}

/**
 * Wraps secrets by AES-256-GCM with local keys. A wrapped secret is `format (1) | version (8) | nonce (12) | ciphertext
 * (32) | tag (16)`, and is bound to its context.
 */
export class LocalKeyEncryption implements KeyEncryption {
  readonly #source: KeySource;
  #keys = new Map<string, Buffer>();

  constructor(source: KeySource) {
    this.#source = source;
  }

  get description(): string {
    return this.#source.description;
  }

  async versions(): Promise<readonly string[]> {
    return (await this.#source.read()).map(versionOfKey);
  }

  async wrap(secret: Buffer, context: Buffer): Promise<Buffer> {
    // The keys are read again, because another process may have made a new version.
    const key = (await this.#source.read()).at(-1);
    if (!key) throw new OperatorError("secret-damaged", "there is no key-encryption key");
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(context);
    const head = Buffer.concat([Buffer.of(FORMAT), Buffer.from(versionOfKey(key), "hex"), nonce]);
    return Buffer.concat([head, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  }

  versionOf(wrapped: Buffer): string {
    if (wrapped.length !== SECRET_AT + SECRET_BYTES + TAG_BYTES || wrapped[0] !== FORMAT) {
      throw new OperatorError("secret-damaged", "a secret in the key store is not of a form that this version knows");
    }
    return wrapped.toString("hex", 1, NONCE_AT);
  }

  async unwrap(wrapped: Buffer, context: Buffer): Promise<Buffer> {
    const key = await this.#keyOf(this.versionOf(wrapped));
    const decipher = createDecipheriv("aes-256-gcm", key, wrapped.subarray(NONCE_AT, SECRET_AT));
    decipher.setAAD(context).setAuthTag(wrapped.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(wrapped.subarray(SECRET_AT, -TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new OperatorError("secret-damaged", "a secret in the key store was changed", { cause });
    }
  }

  async rotate(): Promise<string> {
    const key = randomBytes(SECRET_BYTES);
    await this.#write([...(await this.#source.read()), key]);
    return versionOfKey(key);
  }

  async destroy(version: string): Promise<void> {
    await this.#write((await this.#source.read()).filter((key) => versionOfKey(key) !== version));
    this.#keys.clear();
  }

  async reload(): Promise<boolean> {
    if (!this.#source.reload) return false;
    await this.#source.reload();
    this.#keys.clear();
    return true;
  }

  async #write(keys: readonly Buffer[]): Promise<void> {
    if (!this.#source.write) throw new OperatorError("key-versions-fixed", this.#source.advice);
    await this.#source.write(keys);
  }

  async #keyOf(version: string): Promise<Buffer> {
    if (!this.#keys.has(version)) this.#remember(await this.#source.read());
    if (!this.#keys.has(version) && this.#source.search) this.#remember(await this.#source.search());
    const key = this.#keys.get(version);
    if (!key) {
      const found = `a secret in the key store was wrapped by another key-encryption key, of version ${version}`;
      throw new OperatorError("secret-damaged", `${found}: add this key to ${this.description || "the given ones"}`);
    }
    return key;
  }

  #remember(keys: readonly Buffer[]): void {
    this.#keys = new Map(keys.map((key) => [versionOfKey(key), key]));
  }
}
