import { describe, expect, it } from "vitest";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { advanceClock } from "../../../../../e2e/support/test-clock.ts";
import { openEventStore } from "../../store/events/event-store.fixture.ts";
import { newEvent } from "../../store/events/new-event.fixture.ts";
import { readStorage, runwayDays } from "./storage.ts";

const opened = useTestSystem();

describe("the runway of a disk", () => {
  it("is the free bytes at the rate of what grows without end", () => {
    const growths = [
      { bytes: 500, bytesPerDay: 10 },
      { bytes: 0, bytesPerDay: 30 },
    ];
    expect(runwayDays(growths, 400)).toBe(10);
    expect(runwayDays(growths, 0)).toBe(0);
  });

  it("has no end if expiry deletes as much as is stored, before the disk is full", () => {
    const growths = [{ bytes: 50, bytesPerDay: 10, keptDays: 10 }];
    expect(runwayDays(growths, 51)).toBeUndefined();
    expect(runwayDays(growths, 49)).toBe(4.9);
    expect(runwayDays([{ bytes: 900, bytesPerDay: 10, keptDays: 10 }], 1)).toBeUndefined();
    expect(runwayDays([{ bytes: 900, bytesPerDay: 0 }], 1)).toBeUndefined();
  });

  it("continues with the rest when a part stops growing", () => {
    const growths = [
      { bytes: 0, bytesPerDay: 10, keptDays: 10 },
      { bytes: 0, bytesPerDay: 10 },
    ];
    expect(runwayDays(growths, 300)).toBe(20);
  });
});

it("the rate is that of the time since the installation began, and at least that of a day", async () => {
  const { owner, system } = opened;
  const store = await openEventStore(system);
  for (let event = 0; event < 100; event++) await store.append(newEvent());
  await store.close();
  await owner.query("vacuum event");
  const read = () => readStorage(system.pool, { replayWindowDays: 30, auditDays: 730 });
  const [first] = (await read()).growths;
  expect(first?.bytes).toBeGreaterThan(0);
  expect(first?.bytesPerDay).toBeCloseTo(first?.bytes ?? 0, 0);
  await advanceClock(opened.environment, 4 * 86_400_000);
  const { growths, eventsPerDay } = await read();
  expect(growths[0]).toEqual({ bytes: first?.bytes, bytesPerDay: expect.closeTo(Number(first?.bytes) / 4, -3) });
  expect(eventsPerDay).toBeCloseTo(25, 0);
  expect(growths.at(-1)).toMatchObject({ keptDays: 730 });
});
