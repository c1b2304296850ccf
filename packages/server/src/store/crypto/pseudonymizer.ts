import type { KeyObject } from "node:crypto";
import { macOf } from "./mac.ts";

const MAC_BYTES = 16;
const ID_BYTES = 16;

/**
 * Computes pseudonyms: the names of tombstones, which replace ledger rows; the MACs of subjects; and the pseudonyms
 * that are shown to people. It also computes the ids of audit secrets, and masks the event ids of tombstones. To
 * compute one of these values, a caller needs the original names and a key that is derived from the installation
 * secret. An erasure does not delete that secret. A caller who can compute the name of a tombstone can also read its
 * event id.
 */
export class Pseudonymizer {
  /** A key object, because Node.js would make one from bytes for each MAC, at four times the cost. */
  readonly #key: KeyObject;

  constructor(key: KeyObject) {
    this.#key = key;
  }

  /** HMAC-SHA-256 (RFC 2104) of an account and an idempotency key, 16 bytes. */
  tombstoneNameOf(account: string, key: string): Buffer {
    return this.#mac("tombstone name", account, key).subarray(0, MAC_BYTES);
  }

  /**
   * HMAC-SHA-256, 16 bytes, of an erased subject, which is an account, an account under a purpose, an action or an
   * event.
   */
  subjectOf(kind: string, ...names: readonly string[]): Buffer {
    return this.#mac(`erased ${kind}`, ...names).subarray(0, MAC_BYTES);
  }

  /**
   * HMAC-SHA-256, 16 bytes, of a held subject, which is an account or an action. It differs from the MAC of an erasure
   * of the same subject.
   */
  heldSubjectOf(kind: string, name: string): Buffer {
    return this.#mac(`held ${kind}`, name).subarray(0, MAC_BYTES);
  }

  /** HMAC-SHA-256 of an account, 16 bytes, by which restrictions name it. It differs from all other MACs of the account. */
  restrictedAccountOf(account: string): Buffer {
    return this.#mac("restricted account", account).subarray(0, MAC_BYTES);
  }

  /** HMAC-SHA-256 of a name, 16 bytes in hexadecimal, for people who may count and compare names but not read them. */
  shownPseudonymOf(kind: "account" | "session" | "idempotency-key" | "action", ...names: readonly string[]): string {
    return this.#mac(`shown ${kind}`, ...names)
      .subarray(0, MAC_BYTES)
      .toString("hex");
  }

  /**
   * Computes the ids of the audit secrets of an account, or of the installation, by number.
   * @param subject the keyed MAC of the account, or `undefined` for the audit secrets of the installation.
   */
  auditSecretIdsOf(subject: Buffer | undefined): (number: number) => string {
    const owner = subject?.toString("hex") ?? "installation";
    return (number) => uuidText(this.#mac("audit secret id", owner, String(number)).subarray(0, ID_BYTES));
  }

  /**
   * Masks an event id, or removes the mask. Each pair of account and idempotency key has its own mask, which is used
   * once in a replay window.
   */
  mask(account: string, key: string, id: Buffer): Buffer {
    const mask = this.#mac("tombstone event", account, key);
    return Buffer.from(id.subarray(0, ID_BYTES).map((byte, at) => byte ^ (mask[at] ?? 0)));
  }

  /** Names can't contain U+0000, so two different lists never give the same text. */
  #mac(use: string, ...names: readonly string[]): Buffer {
    return macOf(this.#key, [use, ...names].join("\0"));
  }
}

export const uuidBytes = (id: string): Buffer => Buffer.from(id.replaceAll("-", ""), "hex");

export function uuidText(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
