import { host } from "./host-globals.ts";

/** Returns `length` random bytes. `getRandomBytes` of expo-crypto is such a function. */
export type RandomBytes = (length: number) => ArrayLike<number>;

const KEY_BYTES = 16;

/** The platform's source of random bytes, if it has one. Keys are never made with `Math.random`. */
export function platformRandomBytes(): RandomBytes | undefined {
  const { crypto } = host;
  return (
    crypto?.getRandomValues && ((length) => (crypto as Required<typeof crypto>).getRandomValues(new Uint8Array(length)))
  );
}

/**
 * Makes an idempotency key of 128 random bits, as 32 hexadecimal digits. It must be unique among the events of an
 * account on all devices of the account. It is not a secret, because it is useless without the account's session.
 *
 * @throws TypeError if `randomBytes` does not return 16 bytes, or returns the same byte 16 times.
 */
export function makeIdempotencyKey(randomBytes: RandomBytes): string {
  const given = randomBytes(KEY_BYTES);
  const bytes = Uint8Array.from(given);
  // `Uint8Array` would turn texts, fractions and large numbers into other bytes, which are less random.
  const isOther = bytes.some((byte, index) => byte !== given[index]);
  if (isOther || bytes.length !== KEY_BYTES || new Set(bytes).size === 1) {
    throw new TypeError("randomBytes must return random bytes");
  }
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
