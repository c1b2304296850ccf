import { createSecretKey } from "node:crypto";
import { expect, it } from "vitest";
import { RowSigner, type SignedValues } from "./row-signer.ts";

const signer = new RowSigner(createSecretKey(Buffer.alloc(32, 1)));
const values = (lastValue: unknown = null): SignedValues => ["row", "id", { b: 1, a: ["x"] }, lastValue];

it("a signature is valid if each value is the one that was signed; the order of members does not matter", () => {
  const mac = signer.sign(values());
  expect(signer.isSigned(values(), mac)).toBe(true);
  expect(signer.isSigned(["row", "id", { a: ["x"], b: 1 }, null], mac)).toBe(true);
  expect(signer.isSigned(values(false), mac)).toBe(false);
  expect(signer.isSigned(["another kind", "id", { b: 1, a: ["x"] }, null], mac)).toBe(false);
  expect(new RowSigner(createSecretKey(Buffer.alloc(32, 2))).isSigned(values(), mac)).toBe(false);
});

it.each([0, 31, 33])("a MAC of %i bytes is not valid", (bytes) => {
  expect(signer.isSigned(values(), Buffer.alloc(bytes))).toBe(false);
});

it("a signature of a row with a value that has no canonical form is not valid", () => {
  expect(signer.isSigned(values(JSON.parse("1e999")), Buffer.alloc(32))).toBe(false);
  expect(signer.isSigned(values("\ud800"), Buffer.alloc(32))).toBe(false);
});
