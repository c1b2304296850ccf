import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ingested, INGEST, read } from "../../audit/log/log.fixture.ts";
import { type AuditRecord, decodeRecord, encodeRecord, signRecord, SURFACES } from "./record.ts";
import { macOf } from "../crypto/mac.ts";

const uuid = fc.uuid();
const text = fc.string({ unit: "grapheme", maxLength: 40 });
const number = fc.maxSafeNat();
const bytes = (length: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));

const record: fc.Arbitrary<AuditRecord> = fc.record(
  {
    entryId: uuid,
    surface: fc.constantFrom(...SURFACES),
    place: fc.record({ lane: uuid, number }),
    previous: fc.record({ lane: uuid, number, mac: bytes(32) }),
    at: number,
    actor: text,
    via: text,
    roles: fc.array(text),
    operation: text,
    outcome: text,
    subjects: fc.array(bytes(16)),
    eventIds: fc.array(uuid),
    occurrences: number,
    reason: text,
    detail: text,
    category: text,
    ticket: text,
    caseId: uuid,
    approvalId: uuid,
    secretId: uuid,
    sealed: fc.uint8Array().map((array) => Buffer.from(array)),
  },
  { requiredKeys: ["entryId", "surface", "at", "actor", "via", "operation", "outcome", "occurrences"] },
);

describe("the bytes of a record", () => {
  it("are read as the record that was written", () => {
    fc.assert(
      fc.property(record, (one) => {
        expect(decodeRecord(encodeRecord(one))).toEqual(one);
      }),
    );
  });

  it("differ for different records, because a text can't move from one field into the next", () => {
    const one = encodeRecord({ ...ingested(1), surface: "ingest", actor: "ab", via: "c" });
    expect(encodeRecord({ ...ingested(1), surface: "ingest", actor: "a", via: "bc" })).not.toEqual(one);
    const absent = encodeRecord({ ...read(1), surface: "direct", roles: undefined });
    expect(encodeRecord({ ...read(1), surface: "direct", roles: [] })).not.toEqual(absent);
  });

  it("are the only bytes of the record: every other spelling is rejected", () => {
    fc.assert(
      fc.property(record, fc.nat(), fc.integer({ min: 1, max: 255 }), (one, where, change) => {
        const encoded = encodeRecord(one);
        const changed = Buffer.from(encoded);
        const at = where % encoded.length;
        changed[at] = (changed[at] ?? 0) ^ change;
        const decoded = decodeRecord(changed);
        if (decoded) expect(encodeRecord(decoded)).toEqual(changed);
        expect(decodeRecord(encoded.subarray(0, at))).toBeUndefined();
        expect(decodeRecord(Buffer.concat([encoded, Buffer.alloc(1)]))).toBeUndefined();
      }),
    );
  });

  it.each([
    ["bytes that are no UTF-8", { actor: 0xff }],
    ["a surface that is not known", { surface: 0x78 }],
  ])("with %s are no record", (_, change) => {
    const encoded = encodeRecord({ ...ingested(1), surface: "ingest" });
    const [name] = Object.keys(change) as ["actor" | "surface"];
    const at = encoded.indexOf(name === "actor" ? "endpoint" : "ingest");
    encoded[at] = Object.values(change)[0] as number;
    expect(decodeRecord(encoded)).toBeUndefined();
  });
});

it("the MAC changes with each byte of a record", () => {
  const { bytes: encoded, mac } = signRecord(INGEST.key, { ...ingested(7), surface: "ingest" });
  for (let at = 0; at < encoded.length; at++) {
    const changed = Buffer.from(encoded);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(macOf(INGEST.key, changed).equals(mac)).toBe(false);
  }
});
