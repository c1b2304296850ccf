import { describe, expect, it } from "vitest";
import type { BackupStore } from "@device-risk-signals/admin-api";
import { describeBackup, stateOf } from "./backup-state.ts";
import type { TakenBackup } from "./backup-table.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse("2027-01-31T12:00:00Z");

/** Backups of a store, so many hours ago. */
const taken = (store: BackupStore, ...hoursAgo: readonly number[]): readonly TakenBackup[] =>
  hoursAgo.map((hours) => ({ store, taken_at: new Date(NOW - hours * HOUR_MS).toISOString() }));
const problemOf = (backups: readonly TakenBackup[], store: BackupStore = "events", periodMs?: number) =>
  stateOf(store, backups, NOW, periodMs).problem;

describe("the latest recorded backup", () => {
  it("is unknown without a record", () => {
    const state = stateOf("events", taken("keys", 1), NOW, DAY_MS);
    expect(state).toEqual({ store: "events", taken_at: null, age_seconds: null, problem: null });
    expect(describeBackup(state)).toBe("events: none is recorded (drs backup record --store events)");
  });

  it("has an age, and no problem without another record or a declared period", () => {
    const state = stateOf("journal", taken("journal", 5_000), NOW, undefined);
    expect(state).toMatchObject({ age_seconds: 18_000_000, problem: null });
    expect(describeBackup(state)).toBe("journal: 208 days old");
  });

  it("is too old when it is older than twice the usual time between backups, and than a day", () => {
    expect(problemOf(taken("events", 47, 71, 95))).toBeNull();
    expect(problemOf(taken("events", 49, 73, 97))).toBe("there was one each 24 hours before");
    expect(problemOf(taken("events", 23, 24, 25)), "hourly, but not a day old").toBeNull();
    expect(problemOf(taken("events", 25, 26, 27))).toBe("there was one each 60 minutes before");
    expect(problemOf(taken("events", 49, 73, 97, 2_000, 2_024)), "one long pause is not usual").not.toBeNull();
  });

  it("is too old when its declared period has ended", () => {
    expect(problemOf(taken("events", 24), "events", DAY_MS)).toBeNull();
    expect(problemOf(taken("events", 24.1), "events", DAY_MS)).toBe(
      "its declared period of 24 hours has ended, so that no recorded backup is left",
    );
  });

  it("of the keys is too old when the events have one that is a day newer", () => {
    expect(problemOf([...taken("events", 0), ...taken("keys", 24)], "keys")).toBeNull();
    expect(problemOf([...taken("events", 0), ...taken("keys", 25)], "keys")).toMatch(
      /^the backup of the events is 25 h/,
    );
    expect(problemOf([...taken("events", 25), ...taken("keys", 0)], "events")).toBeNull();
  });

  it("of a time after the clock was set back has the age 0", () => {
    const state = stateOf("events", taken("events", -1), NOW, undefined);
    expect(state).toMatchObject({ age_seconds: 0, problem: null });
    expect(describeBackup(state)).toBe("events: 0 seconds old");
  });
});
