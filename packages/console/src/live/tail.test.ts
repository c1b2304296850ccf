import type { Event } from "@device-risk-signals/admin-api";
import fc from "fast-check";
import { expect, it } from "vitest";
import { changed, EMPTY, pauseAfter, RING } from "./tail.ts";

const event = (number: number): Event =>
  ({ event_id: String(number), received_at: new Date(number).toISOString() }) as Event;
const idsOf = (events: readonly Event[]): number[] => events.map(({ event_id }) => Number(event_id));
/** An answer with all events since a time, or with the newest of them. */
const answered = (numbers: readonly number[], { since = 0, more = false } = {}) =>
  ({ kind: "answered", events: numbers.map(event), since: new Date(since).toISOString(), more }) as const;

it("has each event once and newest first, in whichever order the answers overlap", () => {
  const batches = fc.array(fc.array(fc.nat(500), { maxLength: 50 }), { maxLength: 20 });
  fc.assert(
    fc.property(batches, (numbers) => {
      const tail = numbers.reduce((before, batch) => changed(before, answered([...new Set(batch)])), EMPTY);
      expect(idsOf(tail.events)).toEqual([...new Set(numbers.flat())].toSorted((a, b) => b - a));
    }),
  );
});

it("shows nothing new while it is paused, and all of it afterwards", () => {
  const paused = changed(changed(changed(EMPTY, answered([1, 2])), { kind: "paused" }), answered([2, 3, 4]));
  expect([idsOf(paused.events), idsOf(paused.waiting)]).toEqual([
    [2, 1],
    [4, 3],
  ]);
  const resumed = changed(paused, { kind: "resumed" });
  expect([idsOf(resumed.events), idsOf(resumed.waiting)]).toEqual([[4, 3, 2, 1], []]);
});

it.each(["events", "waiting"] as const)("keeps the newest of its %s, and counts what it drops", (list) => {
  const first = list === "events" ? EMPTY : changed(EMPTY, { kind: "paused" });
  const full = changed(first, answered(Array.from({ length: RING }, (_, index) => index)));
  expect([full[list].length, full.dropped]).toEqual([RING, 0]);
  const over = changed(full, answered([RING, RING + 1, RING + 2]));
  expect([over[list].length, over.dropped]).toEqual([RING, 3]);
  expect(idsOf(over[list]).at(0)).toBe(RING + 2);
});

it.each([
  ["an answer that left older events out reaches back to what it has", answered([22, 21, 20], { more: true }), false],
  ["an answer that left older events out begins later", answered([22, 21], { more: true }), true],
  ["it asked from before what it has", answered([22], { since: 15 }), false],
  ["no event came for longer than it asks back", answered([], { since: 21 }), false],
  ["it asked from after its last answer, because it was hidden", answered([], { since: Date.UTC(9999) }), true],
])("says that events are missing only if they are: %s", (_, answer, isMissing) => {
  const first = changed(EMPTY, answered([20, 19], { more: true }));
  expect(first.hasGap).toBe(false);
  expect(changed(first, answer).hasGap).toBe(isMissing);
  // What it has may also wait while the page is paused.
  expect(changed(changed(changed(EMPTY, { kind: "paused" }), answered([20])), answer).hasGap).toBe(isMissing);
});

it("says of no events that they are missing if the clock of the page is behind", () => {
  const first = changed(EMPTY, answered([Date.UTC(9999)]));
  expect(changed(first, answered([], { since: Date.UTC(9999) - 5_000 })).hasGap).toBe(false);
});

it("keeps what it shows after a failure, and forgets the failure after an answer", () => {
  const failed = changed(changed(EMPTY, answered([1])), { kind: "failed", error: new Error("away") });
  expect([idsOf(failed.events), failed.error]).toEqual([[1], new Error("away")]);
  expect(changed(failed, answered([])).error).toBeUndefined();
});

it("asks each second, and a server that answers slowly more rarely", () => {
  expect([0, 20, 100, 400, 1_000, 3_000, 1e9].map(pauseAfter)).toEqual([
    1_000, 980, 1_500, 6_000, 10_000, 15_000, 60_000,
  ]);
});
