/** AES-256-GCM with a random nonce. The sealed bytes are `version (1) | nonce (12) | ciphertext | tag (16)`. */
import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from "node:crypto";
import { OperatorError } from "../../base/errors/operator-error.ts";

const CIPHER = "aes-256-gcm";
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/** @param version the version of the format of the bytes. The associated data contains it. */
export function encrypt(key: KeyObject, version: number, associatedData: Buffer, bytes: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(HEAD_BYTES + bytes.length + TAG_BYTES);
  sealed[0] = version;
  const nonce = nonces.next();
  nonce.copy(sealed, 1);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associatedData);
  cipher.update(bytes).copy(sealed, HEAD_BYTES);
  cipher.final();
  cipher.getAuthTag().copy(sealed, HEAD_BYTES + bytes.length);
  return sealed;
}

/** @throws payload-damaged if the bytes were not sealed with this key and associated data, or if `read` throws. */
export function decrypt<T>(
  key: KeyObject,
  associatedDataOf: (version: number) => Buffer,
  sealed: Buffer,
  read: (version: number, bytes: Buffer) => T,
): T {
  const [version = 0] = sealed;
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(1, HEAD_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedDataOf(version)).setAuthTag(sealed.subarray(-TAG_BYTES));
    return read(version, Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]));
  } catch (cause) {
    throw new OperatorError("payload-damaged", "the stored payload is not what was sealed for this event", { cause });
  }
}

/** Random nonces. 512 of them are read from the system at a time. */
class Nonces {
  readonly #pool = Buffer.alloc(NONCE_BYTES * 512);
  #used = this.#pool.length;

  next(): Buffer {
    if (this.#used === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    this.#used += NONCE_BYTES;
    return this.#pool.subarray(this.#used - NONCE_BYTES, this.#used);
  }
}

const nonces = new Nonces();
