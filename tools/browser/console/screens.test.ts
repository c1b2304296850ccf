/** Each screen in each of its states, light and dark: accessible, and as wide as the window. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { hasChromium, useConsole } from "./scene.ts";
import { answerLate, expectScreen, refuse } from "./screen.ts";

const scene = useConsole();
const ROLES = ["operator", "analyst", "investigator", "privacy", "auditor"];
let event = "";
let other = "";
let page: Page;

beforeAll(async () => {
  if (!hasChromium) return;
  other = await scene.store("a", "full-android");
  event = await scene.store("a", {
    os_integrity: { status: "success", data: { isEmulator: true } },
    geolocation: { status: "skipped", reason: "disabled" },
    gpu_benchmark: { status: "timeout" },
    fonts: { status: "error", error: "e".repeat(250) },
    ["p".repeat(200)]: {
      status: "success",
      data: { ["f".repeat(200)]: "x".repeat(20_000), list: [1, [2, { a: null }]] },
    },
  });
  await scene.store("w".repeat(110), "full-ios");
  const refused = await scene.post("a", { observations: { schema_version: "1" } });
  expect(refused).toBe(400);
  page = await scene.signIn("ines", ROLES);
  const opened = await scene.signIn("ines", ROLES, page.context());
  await opened.goto(`${scene.url}/events/${event}`);
  await opened.getByRole("button", { name: "Open the observations" }).click();
  await opened.getByLabel("Reason").fill("to see every state");
  await opened.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
  await opened.locator(".strip").waitFor();
  await opened.close();
});

const go = async (path: string): Promise<void> => void (await page.goto(`${scene.url}${path}`));
const EVENTS = "**/admin/v1/events?*";

const STATES: Readonly<Record<string, () => Promise<void>>> = {
  "the sign-in": async () => {
    const signedOut = await (await scene.context()).newPage();
    await signedOut.goto(scene.url);
    await signedOut.getByText("npx drs console link").waitFor();
    page = signedOut;
  },
  "the list": async () => {
    await go("/events");
    await page.getByRole("row").nth(3).waitFor();
  },
  "the list with filters": async () => {
    await go(`/events?account=${"w".repeat(110)}&platform=ios&from=2026-01-01T00:00:00Z`);
    await page.getByRole("row").nth(1).waitFor();
  },
  "the empty list": async () => {
    await go("/events?account=nobody");
    await page.getByText("No event has these filters").waitFor();
  },
  "the list while it loads": async () => {
    await answerLate(page, EVENTS);
    await go("/events");
    await page.locator(".skeleton").waitFor();
  },
  "the list after a failure": async () => {
    await refuse(page, EVENTS);
    await go("/events");
    await page.getByRole("alert").waitFor();
  },
  "an event that is closed": async () => {
    await go(`/events/${other}`);
    await page.getByText("The observations are sealed").waitFor();
  },
  "an event that does not exist": async () => {
    await go("/events/01900000-0000-7000-8000-000000000000");
    await page.getByText("The event can't be shown").waitFor();
  },
  "an event that is open, with long names and values": async () => {
    await go(`/events/${event}`);
    await page.getByRole("button", { name: "Open the observations" }).click();
    await page.locator(".strip").waitFor();
    await page.getByRole("navigation", { name: /Compare/ }).waitFor();
  },
  "the question why": async () => {
    await go("/events");
    await page.getByRole("link", { name: "w".repeat(110) }).waitFor();
    await page
      .locator("tr", { hasText: "w".repeat(20) })
      .locator(".row-link")
      .click();
    await page.getByRole("button", { name: "Open the observations" }).click();
    await page.getByRole("dialog").waitFor();
  },
  "a comparison": async () => {
    await go(`/events/${event}/compare/${other}`);
    await page.getByRole("button", { name: /^Only one reported it/ }).click();
    await page.getByRole("row").nth(2).waitFor();
  },
  "the overview": async () => {
    await go("/");
    await page.getByRole("heading", { name: "The last events" }).waitFor();
    await page.getByRole("row").nth(2).waitFor();
  },
  "the live view, paused, with a chosen event": async () => {
    await go("/live");
    await page.locator(".row-button").first().click();
    await page.keyboard.press("p");
    await page.getByText("Paused.").waitFor();
  },
  "the live view when nothing arrives": async () => {
    await go("/live?account=nobody");
    await page.getByText("No event in the last ten minutes").waitFor();
  },
  "rejected requests": async () => {
    await go("/rejections");
    await page.locator("summary").first().click();
  },
  "no rejected requests": async () => {
    await page.route("**/rejections/summary?*", (route) =>
      route.fulfill({ json: { from: "", to: "", rejections: [], more: false } }),
    );
    await go("/rejections");
    await page.getByText("Nothing was rejected").waitFor();
  },
  "the latest rejected requests": async () => {
    await go("/rejections/latest");
    await page.locator("summary").first().click();
  },
  "no latest rejected requests": async () => {
    await go("/rejections/latest?account=nobody");
    await page.getByText("No kept request has these filters").waitFor();
  },
  "the latest rejected requests while they load": async () => {
    await answerLate(page, "**/rejections/recent?*");
    await go("/rejections/latest");
    await page.locator(".skeleton").waitFor();
  },
  "the latest rejected requests after a failure": async () => {
    await refuse(page, "**/rejections/recent?*");
    await go("/rejections/latest");
    await page.getByRole("alert").waitFor();
  },
  "the timeline of a key": async () => {
    await go(`/events/${other}`);
    await page.locator('.facts a[href*="/events/key"]').click();
    await page.getByRole("heading", { name: "Entries of the audit log" }).waitFor();
  },
  "the question for a key": async () => {
    await go("/events/key");
    await page.getByText("A key belongs to the account").waitFor();
  },
  "the timeline of a long key that no event holds": async () => {
    await go(`/events/key?account=${"a".repeat(200)}&key=${"k".repeat(128)}`);
    await page.getByText("No event of this account holds this key").waitFor();
  },
  "the timeline of a key after a failure": async () => {
    await refuse(page, "**/admin/v1/timeline?*");
    await go("/events/key?account=a&key=k");
    await page.getByRole("alert").waitFor();
  },
  "the health of probes, with a chosen cell": async () => {
    await go("/probes?by=day");
    await page.locator(".matrix-cell").first().click();
    await page.getByRole("heading", { name: /Device identity/ }).waitFor();
  },
  "fields beyond the catalog": async () => {
    await go("/drift");
    await page.getByRole("row").nth(1).waitFor();
  },
  "the review of a field": async () => {
    await go("/drift");
    await page
      .getByRole("button", { name: /^Review/ })
      .first()
      .click();
  },
  "features, of which none is adopted": async () => {
    await go("/features");
    await page.getByText("No feature is adopted").waitFor();
    await page.getByText("Nothing was handed out").waitFor();
  },
  "a feature that does not exist": async () => {
    await go("/features/nothing@1");
    await page.getByText("The distribution could not be read").waitFor();
  },
  health: async () => {
    await go("/health");
    await page.getByRole("heading", { name: "Capacity" }).waitFor();
  },
  "health that can't be examined": async () => {
    await refuse(page, "**/admin/v1/health");
    await go("/health");
    await page.getByText("The server could not be examined").waitFor();
  },
  "a page that does not exist": async () => {
    await go("/nothing");
    await page.getByText("There is no such page").waitFor();
  },
  "the keys": async () => {
    await go("/events");
    await page.getByRole("row").nth(3).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
  },
};

describe.skipIf(!hasChromium)("the console (skipped without Chromium)", () => {
  test.each(Object.keys(STATES))("%s is accessible and fits each window", async (name) => {
    const before = page;
    await STATES[name]?.();
    await expectScreen(page);
    await page.unrouteAll();
    page = before;
    // The browser reports each answer of 4xx and 5xx.
    expect(scene.takeMessages().filter((text) => !text.startsWith("Failed to load resource"))).toEqual([]);
  });
});
