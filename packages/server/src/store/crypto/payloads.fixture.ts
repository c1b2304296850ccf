/** Bytes of many sizes and kinds, for code that must return them unchanged. */
import { randomBytes } from "node:crypto";
import fc from "fast-check";

const MAX_BYTES = 255 * 1024;

/** Sizes around the limits of frames, headers and chunks, and random sizes. */
const size = fc.oneof(
  fc.constantFrom(0, 1, 2, 255, 256, 257, 32_768, 32_769, 65_535, 65_536, 65_537, 65_791, 65_792, 131_072, MAX_BYTES),
  fc.nat(2_000),
  fc.nat(MAX_BYTES),
);

export type Kind = "noise" | "zeros" | "json";

/**
 * Noise can't be compressed, so long noise takes several chunks. Zeros take one chunk of a few bytes. JSON is the
 * common case.
 */
export function payload(bytes: number, kind: Kind): Buffer {
  if (kind === "noise") return randomBytes(bytes);
  if (kind === "zeros") return Buffer.alloc(bytes);
  let text = "";
  while (text.length < bytes) text += `{"isEmulator":false,"sensorCount":${randomBytes(4).readUInt32BE()},`;
  return Buffer.from(text.slice(0, bytes));
}

export const anyPayload: fc.Arbitrary<Buffer> = fc
  .tuple(size, fc.constantFrom<Kind>("noise", "zeros", "json"))
  .map(([bytes, kind]) => payload(bytes, kind));

/** Many payloads for concurrent calls: of different sizes, and some different ones of equal size. */
export function crowd(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = (["json", "noise", "json", "zeros", "json"] as const)[index % 5] ?? "json";
    const bytes = index % 3 === 0 ? 5_000 : index % 41 === 0 ? 200_000 : (index * 7_919) % 50_000;
    const made = payload(bytes + 4, kind);
    made.writeUInt32BE(index, 0);
    return made;
  });
}
