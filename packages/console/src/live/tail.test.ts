import type { Event } from "@device-risk-signals/admin-api";
import fc from "fast-check";
import { expect, it } from "vitest";
import { changed, EMPTY, RING } from "./tail.ts";

const event = (number: number): Event =>
  ({ event_id: String(number), received_at: new Date(number).toISOString() }) as Event;
const idsOf = (events: readonly Event[]): number[] => events.map(({ event_id }) => Number(event_id));
const answered = (numbers: readonly number[], more = false) =>
  ({ kind: "answered", events: numbers.map(event), more }) as const;

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

it("counts what it drops, and says when the server left something out", () => {
  const full = changed(EMPTY, answered(Array.from({ length: RING }, (_, index) => index)));
  expect([full.events.length, full.dropped, full.hasGap]).toEqual([RING, 0, false]);
  const over = changed(full, answered([RING, RING + 1, RING + 2], true));
  expect([over.events.length, over.dropped, over.hasGap]).toEqual([RING, 3, true]);
  expect(idsOf(over.events).at(0)).toBe(RING + 2);
});

it("keeps what it shows after a failure, and forgets the failure after an answer", () => {
  const failed = changed(changed(EMPTY, answered([1])), { kind: "failed", error: new Error("away") });
  expect([idsOf(failed.events), failed.error]).toEqual([[1], new Error("away")]);
  expect(changed(failed, answered([])).error).toBeUndefined();
});
