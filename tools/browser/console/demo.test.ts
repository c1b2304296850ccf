/** The data of `drs demo` fill every screen, and each is accessible. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axe } from "./axe.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole({ isDemo: true });
let links: readonly string[] = [];
let page: Awaited<ReturnType<typeof scene.signIn>>;

beforeAll(async () => {
  if (!hasChromium) return;
  page = await scene.signIn("ann");
  const rail = page.getByRole("navigation", { name: "Screens" }).getByRole("listitem").getByRole("link");
  const found = await Promise.all((await rail.all()).map((link) => link.getAttribute("href")));
  links = found.filter((href) => href !== null);
});
afterAll(() => page?.close());

describe.skipIf(!hasChromium)("with the data of the demo (skipped without Chromium)", () => {
  test("each screen of the rail has something to show, and is accessible in light and dark", async () => {
    expect(links.length).toBeGreaterThan(5);
    for (const href of links) {
      // The demo's fourteen days ended yesterday, so the live view is empty.
      const path = href === "/live" ? "/" : href;
      await page.goto(`${scene.url}${path}${path === "/rejections" || path === "/probes" ? "?days=30" : ""}`);
      await page.locator("main").locator("table, details, form, article").first().waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await axe(page), `${href}, ${colorScheme}`).toEqual([]);
      }
    }
    expect(scene.takeMessages()).toEqual([]);
  });

  test("a feature shows states and values by platform, and a second version to compare with", async () => {
    await page.goto(`${scene.url}/features/root_traces@2?by=platform`);
    const states = page.getByRole("region", { name: "Table: States" });
    expect(await states.getByRole("row", { name: /^android/ }).innerText()).toMatch(/android\s+\d+/);
    expect(await axe(page)).toEqual([]);
    await page.getByRole("link", { name: "Compare with root_traces@1" }).click();
    await page.getByText("no longer reads os_integrity.suspiciousMountsFound").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(scene.takeMessages()).toEqual([]);
  });
});
