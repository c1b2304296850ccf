import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unseenEvent } from "../../../bench/src/unseen-event.ts";
import { NameTokens } from "./name-tokens.ts";
import { anyPayload } from "../../server/src/store/crypto/payloads.fixture.ts";

const NAMES = ["a", "isEmulator", "sensorCount", "é", "a name that is longer than sixteen bytes", "prefix", "prefixes"];
/** So many names that some have a number from 256 on, which needs the second token of a pair. */
const MANY_NAMES = Array.from({ length: 400 }, (_, index) => `field${index}`);
const tokens = new NameTokens([...NAMES, ...MANY_NAMES]);
const encoder = tokens.openEncoder();
const withoutSimd = {
  validate: () => false,
  Module: Uint8Array,
  Instance: class {
    readonly exports = {};
  },
};
const decoders = [tokens.openDecoder(), tokens.openDecoder(withoutSimd)];

/** Whether both decoders return the text. */
const isReturned = (text: Buffer): boolean =>
  decoders.every((decoder) => decoder.decode(encoder.encode(text)).equals(text));
const textOf = (text: string): string => encoder.encode(Buffer.from(text)).text.toString("latin1");
const numbersOf = (text: string): number[] => [...encoder.encode(Buffer.from(text)).numbers];

describe("tokens of names", () => {
  it("take one byte for a name, its quotes, its colon, and its value if that is a flag with a comma", () => {
    const text = '{"isEmulator":true,"a":false,"sensorCount":3,"é":{"field399":false,"field398":true}}';
    expect(textOf(text)).toBe("{\x15\x17\x133,\x10{\x18\x14true}}");
    const [high, higher] = [NAMES.length + 398 - 256, NAMES.length + 399 - 256];
    expect(numbersOf(text), "of names that do not follow the name before them").toEqual([1, 0, 2, higher, high]);
    expect([textOf('{"a":true,"isEmulator":false,"a":1'), numbersOf('{"a":true,"isEmulator":false,"a":1')]).toEqual([
      "{\x11\x12\x131",
      [0],
    ]);
  });

  it("leave names unchanged only if the runtime has no WebAssembly with SIMD", () => {
    const broken = { ...withoutSimd, validate: () => true };
    expect(() => tokens.openEncoder(broken), "a module that can't be used").toThrow(TypeError);
    expect(() => tokens.openDecoder(broken), "a module that can't be used").toThrow(TypeError);
    const text = Buffer.from('{"isEmulator":true}');
    const plain = tokens.openEncoder(withoutSimd).encode(text);
    expect(plain.text.subarray(1).equals(text)).toBe(true);
    for (const decoder of decoders) expect(decoder.decode(plain).equals(text)).toBe(true);
  });

  it("leave other names, other spellings and values unchanged", () => {
    for (const text of ['{"prefi":1}', '{"prefixe":1}', '{"a" :1}', '{"\\u0061":1}', '["a","isEmulator"]', '{"":1}'])
      expect(textOf(text)).toBe(text);
  });

  it("return every text byte for byte: events, pieces of JSON in any order, and noise", () => {
    const pieces = [
      "\x10",
      "\x18",
      '"',
      ":",
      ",",
      "{",
      "}",
      "\\",
      "true",
      "false",
      "true,",
      "false,",
      "é",
      "\u0000",
      " ",
      ...NAMES,
    ];
    const anyText = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((all) => Buffer.from(all.join("")));
    fc.assert(fc.property(anyText, isReturned), { numRuns: 2_000 });
    fc.assert(fc.property(anyPayload, isReturned), { numRuns: 50 });
    for (let seed = 0; seed < 50; seed++) {
      const event = Buffer.from(JSON.stringify(unseenEvent(seed, new Date(seed))));
      expect(isReturned(event)).toBe(true);
    }
  });

  it("return texts of up to 256 KiB, and encode larger ones without tokens", () => {
    for (const length of [262_143, 262_144, 262_145, 300_000]) {
      const text = Buffer.from('"a":true,'.repeat(length / 9 + 1)).subarray(0, length);
      const encoded = encoder.encode(text);
      const count = Math.floor(length / 9);
      expect(encoded.text.length).toBe(length <= 262_144 ? count + (length % 9) : length + 1);
      expect(encoded.numbers.length).toBe(length <= 262_144 ? count - 1 : 0);
      expect(isReturned(text)).toBe(true);
    }
  });

  it.each(decoders)("reject texts whose tokens or numbers fit no names: decoder %#", (decoder) => {
    const decode = (text: number[], numbers: number[]) => (): Buffer =>
      decoder.decode({ text: Buffer.from(text), numbers: Buffer.from(numbers) });
    expect(decode([0x7b, 0x14], [255]), "a number beyond the names").toThrow(/not known/);
    expect(decode([0x7b, 0x14, 0x10], [NAMES.length + 399 - 256]), "after the last name").toThrow(/not known/);
    expect(decode([0x7b, 0x13], []), "no number").toThrow(/not known/);
    expect(decode([0x7b, 0x13], [1, 2]), "a number too many").toThrow(/no token/);
    const many = { text: Buffer.alloc(20_000, 0x13), numbers: Buffer.alloc(20_000, 4) };
    expect(() => decoder.decode(many)).toThrow(/too large/);
    const names = Buffer.alloc(5_900, 0x13);
    const rest = Buffer.alloc(256_000, 0x20);
    const half = { text: Buffer.concat([names, rest]), numbers: Buffer.alloc(names.length, 4) };
    expect(() => decoder.decode(half), "names fill the output, and a text follows").toThrow(/too large/);
    const long = { text: Buffer.alloc(262_145, 0x20), numbers: Buffer.alloc(0) };
    expect(() => decoder.decode(long)).toThrow(/too large/);
  });
});
