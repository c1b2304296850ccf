import type { Page } from "playwright-core";
import { expect } from "vitest";
import { axe } from "./axe.ts";

/** The elements that reach beyond the window, if the page does: they say what to mend. */
const TOO_WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  return [...document.querySelectorAll("body *")]
    .filter((element) => element.getBoundingClientRect().right > clientWidth && !element.closest(".table-scroll"))
    .slice(0, 10)
    .map(({ tagName, className }) => tagName + "." + className);
})()`;

/** Expects that the page as it is now is accessible, light and dark, and as wide as each window. */
export async function expectScreen(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axe(page), colorScheme).toEqual([]);
  }
  // 640 is a window of 1,280 at 200 %.
  for (const width of [320, 390, 640, 1024]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate<readonly string[]>(TOO_WIDE), `at ${width} pixels`).toEqual([]);
  }
  expect(await axe(page), "at 1024 pixels").toEqual([]);
  await page.emulateMedia({ forcedColors: "active" });
  expect(await axe(page), "forced colours").toEqual([]);
  await page.emulateMedia({ forcedColors: "none", colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Answers no call of the pattern. */
export const answerLate = (page: Page, pattern: string | RegExp): Promise<unknown> =>
  page.route(pattern, () => new Promise(() => {}));

/** Answers each call of the pattern by 503. */
export const refuse = (page: Page, pattern: string | RegExp): Promise<unknown> =>
  page.route(pattern, (route) =>
    route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify({ type: "urn:problem:device-risk-signals:admin:unavailable", status: 503, detail: "away" }),
    }),
  );
