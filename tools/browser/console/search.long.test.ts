/** A search: when its events were received, how many they are, and a page of them opened under one case. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { hasChromium, useConsole } from "./scene.ts";
import { answerLate, expectScreen, refuse } from "./screen.ts";

const scene = useConsole({ settings: { DRS_OPENED_EVENTS_LIMIT: "3" } });
const HOSTILE = '<img src=x onerror="document.title=1">';

beforeAll(async () => {
  if (!hasChromium) return;
  for (let left = 5; left > 0; left--) await scene.store("4711", "full-android");
  const identity = { manufacturer: HOSTILE, model: "\u202Egnp", systemName: "Android", systemVersion: "14" };
  await scene.store("hostile", { device_identity: { status: "success", data: identity } });
  const novel = Array.from({ length: 8_000 }, (_, at) => [`n${at}`, { status: "timeout" }]);
  await scene.store("huge", Object.fromEntries(novel) as Record<string, unknown>);
  for (let left = 51; left > 0; left--) await scene.store("many", {});
}, 120_000);

const searchOf = (path: string): string => `${scene.url}/events?${path}`;
const bars = (page: Page) => page.getByRole("listbox", { name: /Events by time/ });
const range = (page: Page) => {
  const { searchParams } = new URL(page.url());
  return [searchParams.get("from"), searchParams.get("to")];
};

async function openPage(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Open th/ }).click();
  await page.getByLabel("Reason").fill("the customer says he was blocked");
  await page.getByLabel("Ticket").fill("FR-4711");
  await page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
}

describe.skipIf(!hasChromium)("a search (skipped without Chromium)", () => {
  test("shows when events were received, and zooms by keyboard and by pointer", async () => {
    const page = await scene.signIn("ines", ["investigator"]);
    await page.goto(searchOf("account=many"));
    await bars(page).focus();
    await page.keyboard.press("ArrowRight");
    expect(await bars(page).getByRole("option").first().getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowLeft");
    expect(await bars(page).getByRole("option").last().getAttribute("aria-selected")).toBe("true");
    for (const key of ["ArrowLeft", "Home", "Shift+End", "Escape", "End"]) await page.keyboard.press(key);
    const last = bars(page).getByRole("option").last();
    expect(await last.getAttribute("aria-selected")).toBe("true");
    expect(await last.getAttribute("aria-label")).toMatch(/^\d{4}-\d\d-\d\d [\d:]{8} to [\d: -]+: \d+ events?$/);
    await page.keyboard.press("Enter");
    await expect.poll(() => range(page)).not.toContain(null);
    await expect.poll(() => page.evaluate("document.activeElement?.getAttribute('role')")).toBe("listbox");
    await page.goBack();
    await expect.poll(() => range(page)).toEqual([null, null]);
    const box = (await bars(page).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(box.x + 2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => range(page)).not.toContain(null);
    await page.getByText("The numbers as a table").click();
    const numbers = await page.getByRole("region", { name: "Numbers of events by time" }).getByRole("row").all();
    const events = await Promise.all(numbers.slice(1).map((row) => row.getByRole("cell").last().innerText()));
    expect(events.reduce((sum, text) => sum + Number.parseInt(text), 0)).toBe(51);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("counts all of its events when it is asked", async () => {
    const page = await scene.signIn("ines", ["investigator"]);
    await page.goto(searchOf("account=many"));
    await page.getByRole("button", { name: "Count all" }).click();
    await page.getByRole("status").getByText("51 events", { exact: true }).waitFor();
  });

  test("opens a page of events under one case, and stops at the limit of 24 hours", async () => {
    const page = await scene.signIn("kim", ["investigator"]);
    await page.goto(searchOf("account=4711"));
    await openPage(page);
    await page.getByText("3 of 5 events were opened.").waitFor();
    const rows = page.locator(".opened-row");
    await expect.poll(() => rows.count()).toBe(3);
    expect(await rows.first().innerText()).toMatch(/\w+ \w+.*Android \d+/s);
    expect(await rows.first().innerText()).toMatch(/Probes: \d+ observed/);
    await page.getByText("A box is a probe:").waitFor();
    await page.getByRole("button", { name: "Open these 2 events" }).click();
    await page.getByText("Next: another person approves").waitFor();
    // An opened event is shown without another read.
    await rows.first().locator(".cell").last().click();
    await page.locator(".strip").waitFor();
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(0);
    const entries = await scene.drs("audit", "list", "--json", "--person", "kim", "--limit", "50");
    const reads = entries.split("\n").filter((line) => line.includes("event.read_observations"));
    expect(new Set(reads.map((line) => (JSON.parse(line) as { entry_id: string }).entry_id)).size).toBe(1);
    expect(reads).toHaveLength(3);
    await page.goto(searchOf("account=4711"));
    await page.getByText("under case FR-4711").waitFor();
    expect(await page.locator(".opened-row").count(), "another visit").toBe(0);
    expect(scene.takeMessages()).toEqual([expect.stringContaining("409")]);
  });

  test("is accessible with opened events, and isolates the texts of a device", async () => {
    const page = await scene.signIn("omar", ["investigator"]);
    await page.goto(searchOf("account=hostile"));
    await openPage(page);
    await page.locator(".opened-row").getByText(HOSTILE).waitFor();
    expect(await page.locator(".opened-row").innerText()).toContain("\\u{202e}gnp, Android 14");
    await page.getByText("The numbers as a table").click();
    await bars(page).focus();
    await page.keyboard.press("ArrowLeft");
    await expectScreen(page);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("shows an event with thousands of unknown probes in one line", async () => {
    const page = await scene.signIn("uma", ["investigator"]);
    await page.goto(searchOf("account=huge"));
    await openPage(page);
    await page.locator(".opened-row").getByText("+8,000 unknown").waitFor();
    expect(await page.locator(".opened-row .cell").count()).toBeLessThan(100);
    expect(await page.locator(".opened-row").textContent()).toContain("8000 timeout");
    expect(scene.takeMessages()).toEqual([]);
  });

  test("shows its list while the numbers are late or fail, and to an operator what the role sees", async () => {
    const page = await scene.signIn("olga", ["operator"]);
    await answerLate(page, /events\/count/);
    await page.goto(searchOf("platform=android"));
    await page.locator(".event-row").first().waitFor();
    await page.unrouteAll();
    await refuse(page, /events\/count/);
    await page.reload();
    await page.getByText("The events could not be counted").waitFor();
    expect(await page.locator(".event-row").count()).toBeGreaterThan(5);
    expect(await page.getByRole("button", { name: /^Open th/ }).count()).toBe(0);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await bars(page).waitFor();
    scene.takeMessages();
  });
});
