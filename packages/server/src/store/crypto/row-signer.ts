/**
 * Signs rows with a key that the database does not contain: a login of the database can't write a row with a valid
 * signature.
 */
import type { KeyObject } from "node:crypto";
import { canonicalize } from "@device-risk-signals/contract";
import { isMacOf, macOf } from "./mac.ts";

/** Rows that the server did not sign are counted only up to this number. */
export const MAX_UNSIGNED = 1_000;

/** The content of a row as JSON values. The first value is the kind of the row. */
export type SignedValues = readonly [kind: string, ...values: unknown[]];

export class RowSigner {
  readonly #key: KeyObject;

  constructor(key: KeyObject) {
    this.#key = key;
  }

  /** HMAC-SHA-256 of the canonical form (RFC 8785) of the values. */
  sign(values: SignedValues): Buffer {
    return macOf(this.#key, canonicalize(values));
  }

  isSigned(values: SignedValues, mac: Buffer): boolean {
    try {
      return isMacOf(this.#key, canonicalize(values), mac);
    } catch (error) {
      // A column of the type jsonb can have a number that is larger than any double.
      // guard(false): a row whose values can't be signed does not stop the reader of the other rows
      if (error instanceof TypeError) return false;
      // The nesting of such a column can be deeper than the stack.
      // guard(false): a row whose values are nested too deeply does not stop the reader of the other rows
      if (error instanceof RangeError) return false;
      throw error;
    }
  }
}
