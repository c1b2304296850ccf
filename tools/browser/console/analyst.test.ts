/**
 * The investigator's story: a customer says that he was blocked. Find the account's event, see what the device reported
 * and what it did not, compare with an earlier event, hand the link to a colleague.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { Hand, WAYS } from "./hand.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();
const MAX_CLICKS = 8;
/** A number that no double has, which the request has without quotes. */
const LONG = "12345678901234567";
let ids: { earlier: string; later: string };

beforeAll(async () => {
  if (!hasChromium) return;
  const earlier = await scene.store("4711", "full-android");
  const later = await scene.store("4711", {
    os_integrity: { status: "success", data: { isEmulator: true, isDebuggerAttached: false } },
    network: { status: "success", data: {} },
    geolocation: { status: "skipped", reason: "consent_denied" },
    gpu_benchmark: { status: "timeout" },
    fonts: { status: "error", error: "unreadable" },
    novel_probe: { status: "success", data: { novelField: LONG } },
  });
  await scene.store("4712", "full-ios");
  ids = { earlier, later };
});

/** What every way through the story must have shown. */
async function expectCompared(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "What differs between two events" }).waitFor();
  const row = page.getByRole("row", { name: /isEmulator/ });
  expect(await row.innerText()).toMatch(/false\s+true/);
  const path = new URL(page.url()).pathname;
  expect(path).toBe(`/events/${ids.later}/compare/${ids.earlier}`);
}

describe.skipIf(!hasChromium)("an investigator (skipped without Chromium)", () => {
  test.each(WAYS)("finds, opens, compares and hands over an event by %s, within eight", async (way) => {
    const page = await scene.signIn(`ines-${way}`, ["investigator"]);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const hand = new Hand(way);
    await hand.press(page.getByRole("textbox", { name: "Account, event id or idempotency key" }), "/");
    await page.keyboard.type("4711");
    await page.keyboard.press("Enter");
    await page.waitForURL(/account=4711|account=%224711%22/);
    const rows = page.getByRole("row");
    await expect.poll(() => rows.count()).toBe(3);
    await hand.press(rows.nth(1).getByRole("link").first());
    await page.getByText("The observations are sealed").waitFor();
    await hand.press(page.getByRole("button", { name: "Open the observations" }), "o");
    await hand.type(page.getByLabel("Reason"), "the customer says he was blocked at the checkout");
    await hand.type(page.getByLabel("Ticket"), "FR-4711");
    await hand.press(page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }));
    const strip = page.locator(".strip");
    await strip.waitFor();
    // Five states that stay apart, by letter and word.
    for (const state of ["observed", "skipped", "timeout", "error", "omitted"]) {
      expect(await strip.locator(`.cell.outcome-${state}`).count(), state).toBeGreaterThan(0);
      expect(await strip.locator("figcaption").innerText()).toMatch(new RegExp(`${state} [1-9]`));
    }
    expect(await page.getByRole("row", { name: /isDebuggerAttached/ }).innerText()).toContain("false");
    expect(await page.locator(".section-head").first().innerText()).toMatch(
      /under case FR-4711, which ends in 8 hours/,
    );
    const nothing = page.locator(".probe", { hasText: "Network" });
    expect(await nothing.innerText()).toMatch(/observed\s+none of \d+ fields/);
    const earlier = page.getByRole("navigation", { name: /Compare/ }).getByRole("link");
    await hand.press(earlier.first());
    await expectCompared(page);
    await hand.press(page.getByRole("button", { name: "Copy link" }));
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(page.url());
    expect(hand.count).toBeLessThanOrEqual(MAX_CLICKS);
    await page.getByRole("button", { name: /^Only one reported it [1-9]/ }).click();
    expect(await page.getByRole("row", { name: /^Fonts/ }).innerText()).toMatch(/observed\s+E\s+error:\s+unreadable/);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("uses the case again without being asked, and another person is asked", async () => {
    const page = await scene.signIn("ines-mouse", ["investigator"]);
    await page.goto(`${scene.url}/events/${ids.earlier}`);
    await page.getByRole("button", { name: "Open the observations" }).click();
    await page.locator(".strip").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    const colleague = await scene.signIn("otto", ["investigator"]);
    await colleague.goto(`${scene.url}/events/${ids.earlier}`);
    await colleague.getByRole("button", { name: "Open the observations" }).click();
    await colleague.getByRole("dialog").waitFor();
  });

  test("signs in by a link in the tab where a colleague's link was opened, and sees what it is about", async () => {
    const page = await (await scene.context()).newPage();
    const path = `/events/${ids.later}/compare/${ids.earlier}`;
    await page.goto(`${scene.url}${path}`);
    await page.getByText("Open it in this tab: it leads to the page that you wanted.").waitFor();
    await page.goto(await scene.link("nina", ["investigator"]));
    await page.getByRole("region", { name: "The two events" }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
    expect(await page.getByRole("row", { name: /^Account/ }).innerText()).toMatch(/4711\s+4711/);
    await page.getByRole("button", { name: "Open and compare" }).click();
    await page.getByRole("dialog").getByText("all events of account 4711").waitFor();
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    // The 401 with which it began.
    scene.takeMessages();
  });

  test("what a tab remembers leads to no other origin", async () => {
    const page = await (await scene.context()).newPage();
    await page.goto(`${scene.url}/sign-in`);
    await page.evaluate("sessionStorage.setItem('wanted-path', '//evil.example/x')");
    await page.goto(await scene.link("nina", ["investigator"]));
    await page.getByRole("navigation", { name: "Screens" }).waitFor();
    expect(page.url()).toBe(`${scene.url}/`);
    scene.takeMessages();
  });

  test("reads the exact bytes as they were sent, to the digit", async () => {
    const page = await scene.signIn("ines-mouse", ["investigator"]);
    await page.goto(`${scene.url}/events/${ids.later}`);
    await page.getByRole("button", { name: "Open the observations" }).click();
    await page.getByRole("button", { name: /Read them under case FR-4711/ }).click();
    const text = await page.getByLabel("Exact text").innerText();
    expect(text).toContain('"novelField":12345678901234567');
    const digest = await page.locator("text=/SHA-256/").innerText();
    expect(digest).toMatch(/[0-9a-f]{64}/);
    const audit = await scene.drs("audit", "list", "--json", "--limit", "20");
    expect(audit).toContain("event.read_raw");
  });

  test("reads which roles may do what he may not", async () => {
    const page = await scene.signIn("olga", ["operator"]);
    await page.goto(`${scene.url}/events/${ids.later}`);
    await page.getByText("Opening what the device reported needs the role analyst or investigator").waitFor();
    const auditor = await scene.signIn("aud", ["auditor"]);
    await auditor.goto(`${scene.url}/events`);
    await auditor.getByText("The list of events needs the role operator or analyst").waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });

  test("with the role analyst sees what was withheld as a number, and no value of it", async () => {
    const page = await scene.signIn("ana", ["analyst"]);
    await page.goto(`${scene.url}/events/${ids.earlier}`);
    await page.getByRole("button", { name: "Open the observations" }).click();
    await page.getByLabel("Reason").fill("a question about this phone");
    await page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
    await page.getByText(/\d+ fields are not shown/).waitFor();
    expect(await page.getByRole("row", { name: /^latitude/ }).count()).toBe(0);
    expect(await page.getByRole("button", { name: /Read them under case/ }).count()).toBe(0);
  });
});
