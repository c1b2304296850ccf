/**
 * The integrator's story: is one idempotency key created, replayed, in conflict, erased; when, and how often. By mouse
 * and by keyboard, within three clicks of the overview.
 */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { authorized, send, transport } from "../../../e2e/support/client.ts";
import { issueCredentials } from "../../../e2e/support/server.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();
const MAX_CLICKS = 3;
const ACCOUNT = "customer 1";
const OTHER = "customer 2";
const KEY = "7d3f0a1b2c3d4e5f60718293a4b5c6d7";
const HOSTILE = "<img/src=x>=cmd|'__proto__";

/** Sends one request, the same again, and another one with its key. */
async function sendThrice(account: string, key: string): Promise<void> {
  const who = await issueCredentials(scene.environment, account);
  const body = JSON.stringify(transport(who));
  const headers = { ...authorized(who), "Idempotency-Key": key };
  const post = async (text: string): Promise<number> =>
    (await send({ url: scene.endpoint, headers, body: text })).status;
  expect([await post(body), await post(body), await post(body)]).toEqual([201, 200, 200]);
  expect(await post(body.replace("1.2.3", "1.2.4"))).toBe(409);
}

beforeAll(async () => {
  if (!hasChromium) return;
  await sendThrice(ACCOUNT, KEY);
  // The audit counts retries of an account together, so each number of one key needs an account of its own.
  await sendThrice(OTHER, HOSTILE);
  await sendThrice("erased", KEY);
  await scene.restart();
});

async function expectTimeline(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Entries of the audit log" }).waitFor();
  const facts = await page.locator(".facts").innerText();
  expect(facts).toMatch(/Created\s+once, at \d{4}-\d\d-\d\d/);
  expect(facts).toMatch(/Replayed\s+2 times, the last at \d{4}-\d\d-\d\d/);
  expect(facts).toMatch(/In conflict\s+once, at \d{4}-\d\d-\d\d/);
  const rows = await page.getByRole("row").allInnerTexts();
  expect(rows.slice(1).map((row) => /Created|Replayed|In conflict/.exec(row)?.[0])).toEqual(
    expect.arrayContaining(["Created", "Replayed", "In conflict"]),
  );
}

const searchLine = (page: Page) => page.getByRole("textbox", { name: "Account, event id or idempotency key" });

describe.skipIf(!hasChromium)("an integrator (skipped without Chromium)", () => {
  test("types a key and its account, and sees what happened to it", async () => {
    const page = await scene.signIn("ivo", ["investigator"]);
    await searchLine(page).click();
    await page.keyboard.type(KEY);
    await page.keyboard.press("Enter");
    // The page asks for the account, and its field has the focus.
    await page.getByLabel("Account", { exact: true }).waitFor();
    await page.keyboard.type(ACCOUNT);
    await page.keyboard.press("Enter");
    await expectTimeline(page);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("does so by keyboard alone, with account and key in one line", async () => {
    const page = await scene.signIn("kim", ["analyst"]);
    let presses = 0;
    const press = (key: string): Promise<void> => (presses++, page.keyboard.press(key));
    await press("/");
    await page.keyboard.type(`${ACCOUNT} ${KEY}`);
    await press("Enter");
    await expectTimeline(page);
    expect(presses).toBeLessThanOrEqual(MAX_CLICKS);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("reaches the timeline from an event, by mouse", async () => {
    const page = await scene.signIn("mia", ["analyst"]);
    let clicks = 0;
    await page.locator("tbody tr", { hasText: ACCOUNT }).last().locator(".row-link").click();
    clicks++;
    await page.getByRole("link", { name: KEY }).click();
    clicks++;
    await expectTimeline(page);
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
    await page.locator(".facts").getByRole("link").click();
    await page.getByText("The observations are sealed").waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });

  test("searches a text that is no account as a key", async () => {
    const page = await scene.signIn("mia", ["analyst"]);
    await page.goto(`${scene.url}/events?account=${encodeURIComponent(HOSTILE)}`);
    await page.getByRole("link", { name: "as an idempotency key" }).click();
    await page.getByText("A key belongs to the account").waitFor();
    await page.keyboard.type(OTHER);
    await page.keyboard.press("Enter");
    await expectTimeline(page);
    expect(await page.getByLabel("Idempotency key", { exact: true }).inputValue()).toBe(HOSTILE);
    expect(scene.takeMessages()).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("the timeline of a key (skipped without Chromium)", () => {
  const keyOf = (account: string, key = KEY): string =>
    `/events/key?${new URLSearchParams({ account, key }).toString()}`;

  test("searches an account that looks like a key", async () => {
    const page = await scene.signIn("ina", ["investigator"]);
    await searchLine(page).fill(KEY);
    await searchLine(page).press("Enter");
    await page.getByRole("link", { name: "search it as an account" }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("account")).toBe(KEY);
    await page.getByRole("link", { name: "as an idempotency key" }).waitFor();
  });

  test("says what may have become of a key that no event holds, and who sees an erased one", async () => {
    await scene.drs("erase", "run", "--account", "erased", "--reason", "asked by the customer", "--yes");
    const analyst = await scene.signIn("ana", ["analyst"]);
    await analyst.goto(`${scene.url}${keyOf("erased")}`);
    await analyst.getByText("No event of this account holds this key").waitFor();
    expect(await analyst.locator("main").innerText()).toContain("The roles privacy and auditor see that");
    const privacy = await scene.signIn("pia", ["privacy"]);
    await privacy.goto(`${scene.url}${keyOf("erased")}`);
    await privacy.getByText("The event was erased").waitFor();
    expect(await privacy.locator("main").innerText()).toMatch(/Since \d{4}-\d\d-\d\d/);
    expect(scene.takeMessages().filter((message) => !message.includes("404"))).toEqual([]);
  });

  test("names the roles that may read it", async () => {
    const page = await scene.signIn("olga", ["operator"]);
    await page.goto(`${scene.url}${keyOf(ACCOUNT)}`);
    await page.getByText("needs the role analyst or investigator or privacy").waitFor();
    await page.goto(scene.url);
    await page.locator("tbody .row-link").first().click();
    await page.getByText("Idempotency key", { exact: true }).waitFor();
    expect(await page.locator('a[href*="/events/key"]').count()).toBe(0);
  });
});
