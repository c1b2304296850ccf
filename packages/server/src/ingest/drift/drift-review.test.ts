import { describe, expect, it } from "vitest";
import { type AcceptedField, type DriftDecision, relatedTo, reviewDrift } from "./drift-review.ts";
import type { DriftRow } from "./drift.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

const row = (path: string, json_type = "boolean"): DriftRow => ({
  path,
  json_type,
  platform: "android",
  sdk_version: "1.0.0",
  first_seen: "2026-03-01T11:00:00.000Z",
  last_seen: "2026-03-01T11:00:00.000Z",
  occurrences: 1,
  daily: [1],
});

const decision = (path: string, kind: DriftDecision["kind"], more: Partial<DriftDecision> = {}): DriftDecision => ({
  path,
  kind,
  type: null,
  unit: null,
  sensitivity: null,
  ignored_until: null,
  seen_types: ["boolean"],
  decided_at: "2026-03-01T11:30:00.000Z",
  decided_by: "A. Analyst",
  reason: "review 4711",
  ...more,
});

const stateOf = (
  rows: readonly DriftRow[],
  decisions: readonly DriftDecision[],
  overlay: readonly AcceptedField[] = [],
): unknown[] => reviewDrift(rows, decisions, overlay, NOW).map(({ review }) => review);

describe("the review of a path", () => {
  it("is open until a decision, and then shows the newest decision; a classification does not count as a decision about the path", () => {
    const at = "fonts.novel";
    expect(stateOf([row(at)], [])).toEqual(["open"]);
    expect(stateOf([row(at)], [decision("fonts.novel2", "ignored")])).toEqual(["open"]);
    const decisions = [decision(at, "classified"), decision(at, "rejected"), decision(at, "ignored")];
    expect(stateOf([row(at)], decisions)).toEqual(["rejected"]);
    expect(stateOf([row(at)], decisions.slice(2))).toEqual(["ignored"]);
  });

  it("opens again for every row of the path when an event has a type that no earlier event had", () => {
    const ignored = [decision("fonts.novel", "ignored")];
    expect(stateOf([row("fonts.novel"), row("fonts.novel", "string")], ignored)).toEqual(["open", "open"]);
    const both = [decision("fonts.novel", "ignored", { seen_types: ["boolean", "string"] })];
    expect(stateOf([row("fonts.novel"), row("fonts.novel", "string")], both)).toEqual(["ignored", "ignored"]);
  });

  it("opens again on the day on which an ignored path is listed again", () => {
    const until = (ignored_until: string): unknown[] =>
      stateOf([row("fonts.novel")], [decision("fonts.novel", "ignored", { ignored_until })]);
    expect(until("2026-03-02")).toEqual(["ignored"]);
    expect(until("2026-03-01")).toEqual(["open"]);
  });

  it("is accepted for a probe if one of its fields was accepted, and for no other path that starts with the name of the probe", () => {
    const field = { path: "new_probe.found", type: "boolean", unit: null, sensitivity: "high" } as const;
    const overlay = [{ ...field, is_classified: false }];
    expect(stateOf([row("new_probe", "object"), row("new_prob", "object")], [], overlay)).toEqual(["accepted", "open"]);
  });
});

it("a path is related to those above it and below it", () => {
  const paths = ["new_probe", "new_probe.found", "new_probe.found.deep", "new_probe.other", "new_probe2"].map(
    (path) => ({
      path,
    }),
  );
  expect(relatedTo(paths, "new_probe.found").map(({ path }) => path)).toEqual([
    "new_probe",
    "new_probe.found",
    "new_probe.found.deep",
  ]);
});
