import { expect, test } from "vitest";
import type { Installation } from "./open-installation.ts";
import { replayPorts } from "./recover.ts";

test("searches for replayed holds are spaced by the wall clock, which continues while the host is suspended", () => {
  let now = Date.now();
  const { holdSearch } = replayPorts({ clock: { now: () => now } } as Installation);
  holdSearch.searched(["hold"]);
  expect(holdSearch.isDue(["hold"], undefined)).toBe(false);
  now += 10_000;
  expect(holdSearch.isDue(["hold"], undefined)).toBe(true);
});
