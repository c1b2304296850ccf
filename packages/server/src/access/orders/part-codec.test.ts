import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { OrderCodec } from "./order-codec.ts";

const ORDER = "019a8f00-0000-7abc-8def-0123456789ac";
const installation = randomBytes(32);
const codec = new OrderCodec(installation);

test("a part is opened by the reader that the order names, and by no other process of the installation", () => {
  const reader = codec.partReader();
  const sealed = codec.partWriter(reader.publicKey).seal(ORDER, 1, ["é", { a: 1 }]);
  expect(reader.open(ORDER, 1, sealed)).toEqual(["é", { a: 1 }]);
  expect(new OrderCodec(installation).partReader().open(ORDER, 1, sealed)).toBeUndefined();
});

test("a part is not opened under another order or number, nor after it was changed or cut", () => {
  const reader = codec.partReader();
  const sealed = codec.partWriter(reader.publicKey).seal(ORDER, 1, [1]);
  expect(reader.open(ORDER.replace("019a", "019b"), 1, sealed)).toBeUndefined();
  expect(reader.open(ORDER, 2, sealed)).toBeUndefined();
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(reader.open(ORDER, 1, changed), `byte ${at}`).toBeUndefined();
    expect(reader.open(ORDER, 1, sealed.subarray(0, at)), `${at} bytes`).toBeUndefined();
  }
});

test("a part of a writer that knows the reader's key but no key of the installation is refused", () => {
  const reader = codec.partReader();
  const foreign = new OrderCodec(randomBytes(32)).partWriter(reader.publicKey);
  expect(reader.open(ORDER, 1, foreign.seal(ORDER, 1, [1]))).toBeUndefined();
});

test.each([0, 31, 32])("a reader's key of %i zero bytes is refused", (length) => {
  expect(() => codec.partWriter(Buffer.alloc(length))).toThrow();
});
