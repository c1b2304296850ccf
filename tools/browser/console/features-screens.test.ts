/** The screens of fields and features: accessible, as wide as the window, and with hostile texts as they are. */
import { describe, expect, test } from "vitest";
import { HOSTILE_SHOWN, PATH, useFeatures } from "./features-scene.ts";
import { hasChromium } from "./scene.ts";
import { expectScreen } from "./screen.ts";

const { scene, event } = useFeatures();

const SCREENS: Readonly<Record<string, () => string>> = {
  "the list of fields": () => "/drift",
  "a field": () => `/drift/${PATH}`,
  "the list of features": () => "/features",
  "a feature": () => "/features/new_found@2",
  "a feature by platform": () => "/features/new_found@2?by=platform",
  "a comparison of versions": () => "/features/new_found@1/compare/new_found@2?purpose=default",
  "the lineage of a value": () => `/events/${event()}/features/new_found@2`,
  "an export": () => "/features/export",
};
/** Screens with the meaning of the second version. */
const HOSTILE_SCREENS = new Set([
  "a feature",
  "a feature by platform",
  "a comparison of versions",
  "the lineage of a value",
]);

describe.skipIf(!hasChromium)("the console (skipped without Chromium)", () => {
  test.each(Object.keys(SCREENS))("%s is accessible, fits each window, and runs no text", async (name) => {
    const page = await scene.signIn("ana", ["analyst"]);
    await page.goto(`${scene.url}${SCREENS[name]?.()}`);
    await page.locator("main").locator("table, .lineage, form").first().waitFor();
    await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
    if (HOSTILE_SCREENS.has(name)) await page.getByText(HOSTILE_SHOWN).first().waitFor();
    await expectScreen(page);
    expect(await page.title()).toBe("Device Risk Signals");
    expect(scene.takeMessages()).toEqual([]);
  });
});
