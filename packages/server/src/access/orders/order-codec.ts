/**
 * Seals the content of an order, and signs that a process of the admin API has accepted the order, or that a worker has
 * checked it.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { deriveKey } from "../../store/crypto/derive-key.ts";
import { uuidBytes } from "../../store/crypto/pseudonymizer.ts";
import { PartReader, PartWriter } from "./part-codec.ts";

/** A worker's record that the caller of an order may place it. */
export interface OrderCheck {
  /** The time in RFC 3339, with milliseconds. */
  readonly checkedAt: string;
  readonly mac: Buffer;
}

/** The content that is sealed as the input of an order. */
export interface OrderInput {
  /** The input of the operation. */
  readonly input: object;
  /**
   * The public key, in base64url, of the process that reads the parts of the answer; absent if the answer is no stream.
   */
  readonly reader_key?: string;
}

/**
 * The content of an order, and who placed it. The MAC includes the input only by its hash, because the input is deleted
 * when the order ends.
 */
export interface OrderRecord {
  readonly orderId: string;
  /** The id of the route. */
  readonly route: string;
  readonly person: string;
  readonly actor: string;
  readonly via: string;
  readonly roles: readonly string[];
  readonly tokenId: string | null;
  readonly sessionId: string | null;
  /** SHA-256 of the sealed input. */
  readonly inputSha256: Buffer;
  /** The time at which the caller placed the order, in RFC 3339 with milliseconds. */
  readonly requestedAt: string;
  /** The time before which a worker must begin the order, in RFC 3339 with milliseconds. */
  readonly expiresAt: string;
}

type ContentKind = "input" | "result";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class OrderCodec {
  readonly #content: KeyObject;
  readonly #mac: KeyObject;
  readonly #check: KeyObject;
  readonly #sender: KeyObject;

  /** @param installation the installation secret. */
  constructor(installation: Buffer) {
    this.#content = deriveKey(installation, "order content");
    this.#mac = deriveKey(installation, "order mac");
    this.#check = deriveKey(installation, "order check");
    this.#sender = deriveKey(installation, "order sender");
  }

  /**
   * Seals by AES-256-GCM, with the id of the order and the kind of the content as associated data.
   * @returns `nonce (12) | ciphertext | tag (16)`.
   */
  seal(orderId: string, contentKind: ContentKind, value: unknown): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#content, nonce).setAAD(associatedData(orderId, contentKind));
    return Buffer.concat([nonce, cipher.update(JSON.stringify(value)), cipher.final(), cipher.getAuthTag()]);
  }

  /** @returns `undefined` if the bytes were changed. */
  open(orderId: string, contentKind: ContentKind, sealed: Buffer): unknown {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#content, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(associatedData(orderId, contentKind)).setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return JSON.parse(text.toString());
    } catch {
      return undefined;
    }
  }

  sign(record: OrderRecord): Buffer {
    const { orderId, route, person, actor, via, roles, tokenId, sessionId, requestedAt, expiresAt } = record;
    const caller = [person, actor, via, roles, tokenId, sessionId];
    const signed = JSON.stringify([orderId, route, caller, record.inputSha256.toString("hex"), requestedAt, expiresAt]);
    return createHmac("sha256", this.#mac).update(signed).digest();
  }

  /** Whether the admin API has accepted this order with this input. */
  isSigned(record: OrderRecord, input: Buffer, mac: Buffer): boolean {
    const expected = this.sign(record);
    return sha256(input).equals(record.inputSha256) && isEqual(expected, mac);
  }

  /**
   * @param checkedAt the time at which a worker found that the caller may place the order, in RFC 3339 with
   * milliseconds.
   */
  signCheck(orderId: string, checkedAt: string): Buffer {
    return createHmac("sha256", this.#check)
      .update(JSON.stringify([orderId, checkedAt]))
      .digest();
  }

  /** Whether the MAC proves that a worker has checked this order. */
  isCheckSigned(orderId: string, { checkedAt, mac }: OrderCheck): boolean {
    return isEqual(this.signCheck(orderId, checkedAt), mac);
  }

  /** Makes a reader for the parts of one answer. Each order needs a reader of its own. */
  partReader(): PartReader {
    return new PartReader(this.#sender);
  }

  /** @param readerKey the public key of the process that reads the parts. */
  partWriter(readerKey: Buffer): PartWriter {
    return new PartWriter(this.#sender, readerKey);
  }
}

const isEqual = (expected: Buffer, mac: Buffer): boolean =>
  mac.length === expected.length && timingSafeEqual(expected, mac);

export const sha256 = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

const associatedData = (orderId: string, contentKind: ContentKind): Buffer =>
  Buffer.concat([uuidBytes(orderId), Buffer.from(contentKind)]);
