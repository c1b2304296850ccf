import type { Page } from "playwright-core";
import { expect } from "vitest";
import { axe } from "./axe.ts";

/** Expects that what a page shows is accessible in light, dark and forced colours, and as wide as each window. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axe(page), colorScheme).toEqual([]);
  }
  // 640 is a window of 1,280 at 200 %.
  for (const width of [320, 390, 640, 1024]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate("document.documentElement.scrollWidth"), `at ${width} pixels`).toBe(width);
  }
  expect(await axe(page), "at 1024 pixels").toEqual([]);
  await page.emulateMedia({ forcedColors: "active" });
  expect(await axe(page), "forced colours").toEqual([]);
  await page.emulateMedia({ forcedColors: "none", colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
}
