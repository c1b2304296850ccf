import { checkAgainstCatalog } from "@device-risk-signals/contract/catalog/check";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { expect, test } from "vitest";
import { benchEvent } from "./bench-event.ts";

test("an event of a bench has every probe, no drift and the size that the prompt states, and differs from every other event", () => {
  const [event, other] = [1, 2].map(() => benchEvent(Math.random, new Date(0))) as [object, object];
  const { probes } = event as { probes: Record<string, unknown> };
  expect(Object.keys(probes)).toEqual(CATALOG.map(({ id }) => id));
  expect(checkAgainstCatalog(probes)).toEqual([]);
  const size = Buffer.byteLength(JSON.stringify(event));
  expect(size).toBeGreaterThan(11_000);
  expect(size).toBeLessThan(13_000);
  expect(other).not.toEqual(event);
});
