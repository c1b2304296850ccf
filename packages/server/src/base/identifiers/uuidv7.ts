import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4_096;
const RANDOM_BYTES_PER_UUID = 10;
const randomPool = Buffer.alloc(POOL_BYTES);
let usedBytes = POOL_BYTES;

/**
 * Returns a UUID of version 7 (RFC 9562 §5.7) with the given millisecond and 74 random bits.
 * @param epochMs milliseconds since the Unix epoch, below 2^48.
 */
export function uuidv7(epochMs: number): string {
  if (usedBytes + RANDOM_BYTES_PER_UUID > POOL_BYTES) {
    randomFillSync(randomPool);
    usedBytes = 0;
  }
  const random = randomPool.toString("hex", usedBytes, usedBytes + RANDOM_BYTES_PER_UUID);
  usedBytes += RANDOM_BYTES_PER_UUID;
  const time = epochMs.toString(16).padStart(12, "0");
  const variant = (8 + (Number.parseInt(random.charAt(3), 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Whether the text is a UUID of any version, in upper or lower case. */
export const isUuid = (text: string): boolean => UUID.test(text);
