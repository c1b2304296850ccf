/** Tests that Chromium shows the pages of an account export as they are meant: no script, no request, no wide page. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useFolder } from "../../e2e/support/use-folder.ts";
import {
  eventOf,
  eventParts,
  lines,
  success,
  write,
} from "../../packages/server/src/lifecycle/requests/readable/readable-export.fixture.ts";
import { sampleEvent } from "../../packages/react-native/src/jest/mock.ts";
import { hasChromium, launchChromium } from "./chromium.ts";

const HOSTILE = `<script>document.title="run"</script><img src=x onerror="document.title='run'">"' style=color:red \u202E${"x".repeat(250)}`;

const folder = useFolder();
let browser: Browser;

beforeAll(async () => {
  if (!hasChromium) return;
  const hostile = eventOf(
    { device_identity: success({ model: HOSTILE, [HOSTILE]: [HOSTILE] }) },
    { [HOSTILE]: HOSTILE },
  );
  const events = [
    await sampleEvent({ scenario: "full-android" }),
    hostile,
    await sampleEvent({ scenario: "full-ios" }),
  ];
  const parts = events.flatMap((event, index) => eventParts(index, event, { action_type: HOSTILE }));
  const { files } = await write(parts, { language: "de", limits: { length: 1, entries: 1 } });
  for (const [file, text] of files) {
    await mkdir(dirname(join(folder(), file)), { recursive: true });
    await writeFile(join(folder(), file), text);
  }
  browser = await launchChromium();
});
afterAll(() => browser?.close());

describe.skipIf(!hasChromium)("a page of an account export (skipped without Chromium)", () => {
  const variants = ["index.html", "pages/events-2.html", "pages/events-3.html"].flatMap((file) =>
    ([390, 1280] as const).flatMap((width) =>
      (["light", "dark"] as const).map((colorScheme) => ({ file, width, colorScheme })),
    ),
  );

  test.each(variants)("$file is shown at $width pixels, $colorScheme", async ({ file, width, colorScheme }) => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    const page = await context.newPage();
    const messages: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => void messages.push(message.text()));
    page.on("request", (request) => void requests.push(request.url()));
    const { href } = pathToFileURL(join(folder(), file));
    await page.goto(href);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect(messages, "errors, also of the Content-Security-Policy").toEqual([]);
    expect(requests).toEqual([href]);
    expect(await page.title()).not.toBe("run");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    const back = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(back).toBe(colorScheme === "dark" ? "rgb(20, 22, 26)" : "rgb(255, 255, 255)");
    await context.close();
  });

  test("is printed with the content of what is closed, and without links to the contents", async () => {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(folder(), "index.html")).href);
    const value = page.locator("details details dd").first();
    const up = page.locator("h2 a").first();
    const isShown = () => value.evaluate((one) => one.checkVisibility({ contentVisibilityAuto: true }));
    expect([await isShown(), await up.isVisible()]).toEqual([false, true]);
    await page.emulateMedia({ media: "print" });
    expect([await isShown(), await up.isVisible()]).toEqual([true, false]);
  });

  test("shows no label of an empty cell where it is narrow", async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const at = "2026-11-29T02:00:00Z";
    const request = { request_id: "r", kind: "access", received_at: at, due_at: at, closed_at: null, outcome: null };
    const { index } = await write([lines("requests.ndjson", { ...request, ground: null, identity: null })]);
    await writeFile(join(folder(), "narrow.html"), index);
    await page.goto(pathToFileURL(join(folder(), "narrow.html")).href);
    const cells = page.locator("#requests ~ table").first().locator("tbody td");
    expect(await cells.evaluateAll((all) => all.map((cell) => cell.getClientRects().length > 0))).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
  });

  test("opens the event that a link names", async () => {
    const page = await browser.newPage();
    const event = eventOf({ geolocation: success({ latitude: 1 }) });
    const { index } = await write(eventParts(1, event));
    await writeFile(join(folder(), "event.html"), index);
    await page.goto(pathToFileURL(join(folder(), "event.html")).href);
    expect(await page.locator("#i1").isVisible()).toBe(false);
    await page.click("a[href='#i1']");
    expect(await page.locator("#i1").isVisible()).toBe(true);
  });

  test("opens the group that a link names", async () => {
    const page = await browser.newPage();
    const event = eventOf({ fonts: success({ fontsDigest: "d" }) });
    const { index } = await write([...eventParts(1, event), ...eventParts(2, event)]);
    const file = join(folder(), "linked.html");
    await writeFile(file, index);
    await page.goto(pathToFileURL(file).href);
    await page.click("#e2 > summary");
    const value = page.locator("#e1 dd q");
    expect(await value.isVisible()).toBe(false);
    await page.click("#e2 a[href='#e1-0']");
    expect(await value.isVisible()).toBe(true);
  });
});
