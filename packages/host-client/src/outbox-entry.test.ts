import { expect, it } from "vitest";
import { MAX_ROUNDS, readEntry, writeEntry } from "./outbox-entry.ts";

const request = {
  action: { id: "action-1", type: "payment" },
  key: "key-1",
  expiresAt: 1,
  body: "{}",
} as Parameters<typeof writeEntry>[0]["request"];

it("an entry is read as it was written", () => {
  const entry = { request, rounds: MAX_ROUNDS - 1 };
  expect(readEntry(writeEntry(entry))).toEqual(entry);
});

it.each([
  ["a body that is no text", { request: { ...request, body: 7 }, rounds: 0 }],
  ["no body", { request: { ...request, body: undefined }, rounds: 0 }],
  ["a key that is no header value", { request: { ...request, key: "a b" }, rounds: 0 }],
  ["no time of expiry", { request: { ...request, expiresAt: undefined }, rounds: 0 }],
  ["a negative number of rounds", { request, rounds: -1 }],
  ["too many rounds", { request, rounds: MAX_ROUNDS }],
])("an entry with %s is not read", (_, entry) => {
  expect(readEntry(writeEntry(entry as Parameters<typeof writeEntry>[0]))).toBeUndefined();
});
