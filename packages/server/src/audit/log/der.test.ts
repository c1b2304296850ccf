import { describe, expect, it } from "vitest";
import { encode, encodeInteger, encodeOid, membersOf, readAll, TAGS } from "./der.ts";

const hex = (bytes: Buffer): string => bytes.toString("hex");
const read = (text: string): unknown => readAll(Buffer.from(text, "hex"))?.map(({ tag, value }) => [tag, hex(value)]);

describe("DER", () => {
  it("is encoded as in the examples of X.690, RFC 5280 and RFC 8017", () => {
    expect(hex(encodeOid("2.999.3"))).toBe("0603883703");
    expect(hex(encodeOid("1.2.840.113549.1.1.11"))).toBe("06092a864886f70d01010b");
    expect(hex(encodeInteger(Buffer.of(0, 0)))).toBe("020100");
    expect(hex(encodeInteger(Buffer.of(0, 127)))).toBe("02017f");
    expect(hex(encodeInteger(Buffer.of(128)))).toBe("02020080");
    expect(hex(encode(TAGS.octets, Buffer.alloc(201)).subarray(0, 3))).toBe("0481c9");
    expect(hex(encode(TAGS.octets, Buffer.alloc(256)).subarray(0, 4))).toBe("04820100");
  });

  it("is read as it was written, and other bytes are rejected", () => {
    const inner = [encodeInteger(Buffer.of(5)), encode(TAGS.octets, Buffer.alloc(300, 1))];
    const [outer] = readAll(encode(TAGS.sequence, ...inner)) ?? [];
    expect(membersOf(outer, TAGS.sequence).map(({ raw }) => hex(raw))).toEqual(inner.map(hex));
    expect(membersOf(outer, TAGS.set)).toEqual([]);
    expect(membersOf(undefined, TAGS.set)).toEqual([]);
    expect(read("0500020101")).toEqual([
      [5, ""],
      [2, "01"],
    ]);
    for (const wrong of [
      "02",
      "0202",
      "020201",
      "02810101",
      "0282000101",
      "30800201010000",
      "1f8101",
      "02850000000000",
    ]) {
      expect(read(wrong), wrong).toBeUndefined();
    }
  });
});
