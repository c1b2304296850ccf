/**
 * The auditor's story: who opened which events, why, and under which case; is the log complete and confirmed outside;
 * download the proof.
 */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { openEvent } from "./calls.ts";
import { Hand, WAYS } from "./hand.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();
const MAX_CLICKS = 4;
const HOSTILE = `<img src=x onerror="document.title='run'">\u202Egnp.exe`;
let event = "";

beforeAll(async () => {
  if (!hasChromium) return;
  event = await scene.store("4711", "full-android");
  const page = await scene.signIn("ines", ["investigator"]);
  await openEvent(page, event, "the customer says that he was blocked", "FR-4711");
  await openEvent(page, event, HOSTILE, HOSTILE.slice(0, 100));
  await page.close();
  await scene.drs("audit", "checkpoint");
});

/** What every way through the story must have shown. */
async function expectAnswers(page: Page): Promise<void> {
  // The row of the report, from which the link leads here, has the ticket, too.
  const row = page.getByRole("region", { name: "Entries, newest first" }).getByRole("row", { name: /FR-4711/ });
  expect(await row.innerText()).toMatch(/ines.*browser/);
  expect(await row.innerText()).toContain("opened the observations of an event");
  expect(await row.innerText()).toContain("the customer says that he was blocked");
  expect(await row.getByTitle(event).count()).toBe(1);
}

describe.skipIf(!hasChromium)("an auditor (skipped without Chromium)", () => {
  test.each(WAYS)("sees by %s who opened what, that the log is complete, and takes the proof, in four", async (way) => {
    const page = await scene.signIn("ann", ["auditor"]);
    const hand = new Hand(way);
    await hand.press(page.getByRole("link", { name: "Audit", exact: true }));
    await hand.press(page.getByRole("button", { name: "Verify the log now" }));
    await page.waitForURL(/verification=/);
    await page.getByText(/^Complete, and confirmed outside: \d+ entries\.$/).waitFor();
    const sink = page.getByRole("region", { name: "What is kept outside of the database" }).getByRole("row").nth(1);
    expect(await sink.innerText()).toMatch(/the erasure journal\s+confirms all of it\s+\d+ entries\s+\d{4}-\d\d-\d\d/);
    const read = page.getByRole("row", { name: /ines.*FR-4711/ });
    expect(await read.innerText()).toMatch(/dispute/);
    await hand.press(read.getByRole("link"));
    await expectAnswers(page);
    const downloading = page.waitForEvent("download");
    await hand.press(page.getByRole("row", { name: /FR-4711/ }).getByRole("button", { name: /^Download the proof/ }));
    expect((await downloading).suggestedFilename()).toMatch(/^[0-9a-f-]{36}\.tlog-proof$/);
    const proof = await readFile(await (await downloading).path(), "utf8");
    expect(proof).toMatch(/^c2sp\.org\/tlog-proof@v1\n/);
    expect(hand.count).toBeLessThanOrEqual(MAX_CLICKS);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("downloads the log, which holds without the server", async () => {
    const page = await scene.signIn("ann", ["auditor"]);
    await page.goto(`${scene.url}/audit`);
    const saved = async (name: string): Promise<string> => {
      const downloading = page.waitForEvent("download");
      await page.getByText(name, { exact: true }).click();
      return (await downloading).path();
    };
    const log = await saved("Download the log");
    const key = (await readFile(await saved("Download the key"), "utf8")).trim();
    const checkpoint = await saved("Download a checkpoint");
    // The checkpoint has entries that are newer than the download of the log.
    const later = await saved("Download the log");
    expect(await scene.drs("audit", "verify", later, "--key", key, "--checkpoint", checkpoint)).toContain("holds");
    expect((await readFile(log, "utf8")).split("\n").length).toBeGreaterThan(5);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("sees what the last verification found, without asking for one", async () => {
    const page = await scene.signIn("ann", ["auditor"]);
    await page.goto(`${scene.url}/audit`);
    await page.getByText(/^Complete, .*Verified (now|.* ago)\.$/).waitFor();
    expect(new URL(page.url()).search).toBe("");
    expect(await scene.drs("audit", "verified")).toMatch(/^\d{4}-\S+: intact, .*; \d+ entries\.$/m);
  });

  test("hands over a link to a verification, and to an entry however old it is", async () => {
    const page = await scene.signIn("ann", ["auditor"]);
    await page.goto(`${scene.url}/audit`);
    await page.getByRole("button", { name: "Verify the log now" }).click();
    await page.waitForURL(/verification=/);
    const verdict = page.getByText(/^Complete, /);
    await verdict.waitFor();
    await page.reload();
    await verdict.waitFor();
    await page.goto(`${scene.url}/audit/entries?operation=event.read_observations`);
    await page
      .getByRole("row", { name: /FR-4711/ })
      .getByRole("link")
      .first()
      .click();
    await page.getByRole("article").waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy link to this entry" }).click();
    await page.getByText("Copied").waitFor();
    const colleague = await scene.signIn("kai", ["auditor"]);
    await colleague.goto(await page.evaluate("navigator.clipboard.readText()"));
    expect(await colleague.getByRole("article").innerText()).toContain(event);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("reads hostile reasons as texts", async () => {
    const page = await scene.signIn("ann", ["auditor"]);
    await page.goto(`${scene.url}/audit`);
    await page.getByRole("row", { name: /img src=x/ }).waitFor();
    await page.goto(`${scene.url}/audit/entries?operation=event.read_observations`);
    await page
      .getByRole("row", { name: /img src=x/ })
      .getByRole("link")
      .first()
      .click();
    expect(await page.getByRole("article").innerText()).toContain("\\u{202e}gnp.exe");
    await page.goto(`${scene.url}/access/cases`);
    expect(await page.getByRole("row", { name: /img src=x/ }).innerText()).toContain("\\u{202e}gnp.exe");
    await page.goto(`${scene.url}/audit/entries?person=${encodeURIComponent(HOSTILE)}&operation=__proto__`);
    await page.getByText("No entry has these filters").waitFor();
    expect(await page.title()).toBe("Device Risk Signals");
    expect(scene.takeMessages()).toEqual([]);
  });

  test("finds what was erased of an account, with the signed receipt", async () => {
    await scene.store("erased-1", "full-ios");
    await scene.drs("erase", "run", "--account", "erased-1", "--reason", "request 17", "--yes");
    const page = await scene.signIn("ann", ["auditor"]);
    await page.goto(`${scene.url}/audit/entries?account=erased-1`);
    const erasures = page.getByRole("list", { name: "Erasures of this account" });
    expect(await erasures.innerText()).toMatch(/Erasure of this account, started .* finished .* UTC/);
    const downloading = page.waitForEvent("download");
    await erasures.getByRole("button", { name: /^Download the receipt/ }).click();
    expect((await readFile(await (await downloading).path(), "utf8")).length).toBeGreaterThan(100);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("opens a review of an entry, and another auditor closes it with a result", async () => {
    const page = await scene.signIn("ann", ["auditor"]);
    await page.goto(`${scene.url}/audit/entries?operation=event.read_observations`);
    await page
      .getByRole("row", { name: /FR-4711/ })
      .getByRole("link")
      .first()
      .click();
    await page.getByRole("button", { name: "Open a review" }).click();
    await page.getByLabel("What needs an explanation").fill("no case covers this account");
    await page.getByRole("button", { name: "Open the review" }).click();
    await page.getByRole("link", { name: "go to the reviews" }).click();
    // The page of the entry, which has rows of the same person, is shown until the reviews are there.
    await page.waitForURL(/\/audit\/reviews/);
    const other = await scene.signIn("kai", ["auditor"]);
    await other.goto(`${scene.url}/audit/reviews`);
    await other.getByRole("row", { name: /ines/ }).getByRole("button", { name: "Close" }).click();
    await other.getByLabel("Result").fill("the read was justified");
    await other.getByRole("button", { name: "Close the review" }).click();
    await other.getByText("No review is open").waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });
});
