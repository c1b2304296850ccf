/** The screens of approvals, audit and access in each of their states: accessible, and as wide as the window. */
import { beforeAll, describe, expect, test } from "vitest";
import { askForToken, openEvent } from "./calls.ts";
import { expectAccessible } from "./every-window.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();

beforeAll(async () => {
  if (!hasChromium) return;
  const event = await scene.store("4711", "full-android");
  const page = await scene.signIn("ines", ["investigator"]);
  await openEvent(page, event, "the customer says that he was blocked", "FR-4711");
  await page.close();
  await scene.drs("audit", "checkpoint");
});

const PATHS = {
  "/approvals": "**/admin/v1/approvals*",
  "/audit": "**/admin/v1/audit/reads*",
  "/audit/entries?operation=session.sign_in": "**/admin/v1/audit?*",
  "/audit/reviews": "**/admin/v1/audit/reviews",
  "/access": "**/admin/v1/people*",
  "/access/sessions": "**/admin/v1/sessions*",
  "/access/tokens": "**/admin/v1/admin-tokens*",
  "/access/cases": "**/admin/v1/cases*",
} as const;

describe.skipIf(!hasChromium)("the screen (skipped without Chromium)", () => {
  const ROLES = ["operator", "privacy", "auditor"];

  test.each(Object.entries(PATHS))(
    "%s is accessible and fits each window in each of its states",
    async (path, calls) => {
      const page = await scene.signIn("mia", ROLES);
      await askForToken(page, `o${path.length}${"w".repeat(110)}`);
      const states = {
        filled: async () => {},
        loading: () => page.route(calls, () => new Promise(() => {})),
        failed: () =>
          page.route(calls, (route) =>
            route.fulfill({
              status: 503,
              contentType: "application/problem+json",
              body: JSON.stringify({
                type: "urn:problem:device-risk-signals:admin:unavailable",
                status: 503,
                detail: "x",
              }),
            }),
          ),
      };
      for (const [state, arrange] of Object.entries(states)) {
        await arrange();
        await page.goto(`${scene.url}${path}`);
        const shown = { filled: "main h1", loading: ".skeleton", failed: "[role=alert] button" }[state] ?? "";
        await page.locator(shown).first().waitFor();
        if (state === "filled") await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
        await expectAccessible(page);
        await page.unrouteAll({ behavior: "ignoreErrors" });
      }
      expect(scene.takeMessages().filter((text) => !text.startsWith("Failed to load resource"))).toEqual([]);
    },
  );

  test("of a verification and of an entry with its details is accessible and fits each window", async () => {
    const page = await scene.signIn("mia", ROLES);
    await page.goto(`${scene.url}/audit`);
    await page.getByRole("button", { name: "Verify the log now" }).click();
    await page.getByText(/^Complete, /).waitFor();
    await expectAccessible(page);
    await page.goto(`${scene.url}/audit/entries?person=ines&operation=event.read_observations`);
    await page
      .getByRole("row", { name: /FR-4711/ })
      .getByRole("link")
      .first()
      .click();
    await page.getByRole("article").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Open a review" }).click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page);
    expect(scene.takeMessages()).toEqual([]);
  });
});
