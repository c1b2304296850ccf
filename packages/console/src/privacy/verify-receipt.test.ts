import { CompactSign, exportSPKI, generateKeyPair } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { verifyReceipt } from "./verify-receipt.ts";

const TYPE = "drs-receipt+jws";
let key: CryptoKey;
let pem = "";
let otherPem = "";

beforeAll(async () => {
  const own = await generateKeyPair("Ed25519", { extractable: true });
  key = own.privateKey;
  pem = await exportSPKI(own.publicKey);
  otherPem = await exportSPKI((await generateKeyPair("Ed25519", { extractable: true })).publicKey);
});

const sign = (content: string, typ = TYPE): Promise<string> =>
  new CompactSign(new TextEncoder().encode(content)).setProtectedHeader({ alg: "Ed25519", typ }).sign(key);

describe("a receipt", () => {
  test("is read if the key has signed it, also with the line break of a file", async () => {
    const text = await sign('{"erasure_id":"ü","events":3}');
    const found = { isValid: true, receipt: { erasure_id: "ü", events: 3 } };
    expect(await verifyReceipt(text, pem)).toEqual(found);
    expect(await verifyReceipt(`${text}\r\n`, pem)).toEqual(found);
  });

  test("is refused if another key has signed it, or a part was changed", async () => {
    const text = await sign('{"events":3}');
    const [head, , signature] = text.split(".");
    const changed = `${head}.${btoa('{"events":4}').replace(/=+$/, "")}.${signature}`;
    for (const [receipt, publicKey] of [
      [text, otherPem],
      [changed, pem],
    ] as const) {
      expect(await verifyReceipt(receipt, publicKey)).toMatchObject({
        isValid: false,
        why: expect.stringContaining("did not sign") as unknown,
      });
    }
  });

  test("is refused if it is signed, but is of another type", async () => {
    expect(await verifyReceipt(await sign('{"events":3}', "checkpoint"), pem)).toMatchObject({ isValid: false });
  });

  test.each(["", ".", "..", "a.b.c", "no receipt", "e30.e30.e30", "\u202E.\u0000.x", "a.b"])(
    "is not the text %j",
    async (text) => {
      expect(await verifyReceipt(text, pem)).toMatchObject({ isValid: false });
    },
  );

  test("is refused in another spelling of the same bytes", async () => {
    const text = await sign('{"events":3}');
    // The last character of 64 bytes has four bits that mean nothing.
    const other = text.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1));
    expect(await verifyReceipt(other, pem)).toMatchObject({ isValid: false });
    expect(await verifyReceipt(`${text}==`, pem)).toMatchObject({ isValid: false });
  });
});
