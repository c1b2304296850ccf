import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { EntryCodec } from "./entry-codec.ts";
import { type JournalEntry, NO_ENTRY } from "./journal.ts";

const installation = randomUUID();
const codec = new EntryCodec(createSecretKey(randomBytes(32)), installation);
const base = { version: 1, sequence: 1, installation, at: "2026-01-31T00:00:00.000Z", previous: NO_ENTRY };

const placed = {
  ...base,
  kind: "restriction-placed",
  restriction_id: randomUUID(),
  account: randomBytes(16).toString("hex"),
  purpose: null,
  article: 18,
  request_id: null,
};
const lifted = { ...base, kind: "restriction-lifted", restriction_id: randomUUID(), informed_on: "2027-01-31" };
const erasure = {
  ...base,
  kind: "account",
  erasure_id: randomUUID(),
  subject: null,
  keys: [],
  accounts: [],
  events: [],
  holds: [],
  refused: [],
};

const decoded = (entry: object): JournalEntry =>
  codec.decode({ sequence: 1, text: codec.encode(entry as JournalEntry) });

describe("an entry", () => {
  it.each<readonly [string, object]>([
    ["a placed restriction", placed],
    [
      "a restriction of a purpose, with a request",
      { ...placed, purpose: "fraud_2", article: 21, request_id: randomUUID() },
    ],
    ["a lifted restriction", lifted],
    ["an erasure", erasure],
    ["an erasure that ends restrictions", { ...erasure, restrictions: [randomUUID()] }],
  ])("is read as it was written: %s", (_, entry) => {
    expect(decoded(entry)).toEqual(entry);
  });

  it.each<readonly [string, object]>([
    ["a restriction without an id", { ...placed, restriction_id: "1" }],
    ["a restriction with the name of an account instead of its keyed MAC", { ...placed, account: "customer-1" }],
    ["a restriction of a purpose whose id is invalid", { ...placed, purpose: "Fraud prevention" }],
    ["a restriction of another article", { ...placed, article: 17 }],
    ["a restriction with a request that is no id", { ...placed, request_id: "request 17" }],
    ["a lifted restriction without an id", { ...lifted, restriction_id: null }],
    ["a lifted restriction without the day of the notice", { ...lifted, informed_on: undefined }],
    ["an erasure that ends a restriction whose id is no UUID", { ...erasure, restrictions: ["customer-1"] }],
    ["an unknown kind", { ...lifted, kind: "restriction-changed" }],
  ])("is reported as damaged: %s", (_, entry) => {
    expect(() => decoded(entry)).toThrow(/entry 1 of the erasure journal is not in a known form/);
  });
});
