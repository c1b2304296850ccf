/**
 * The stories of a privacy officer without a terminal: erase an account, which another person approves; answer an
 * access request; see what a change of a period would delete.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Download, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axe } from "./axe.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole({ settings: { DRS_APPROVAL_EVENTS: "1" } });

/** What a person could be named, and what a page must not run, move or hide. */
const HOSTILE = `<img src=x onerror="document.title='run'">\u202E=cmd|'/c calc'!A1`;
const HOSTILE_SHOWN = `<img src=x onerror="document.title='run'">\\u{202e}=cmd|'/c calc'!A1`;

const POLICY = `
purposes:
  - { id: payments, title: Fraud prevention, legal_basis: legitimate interest, raw_retention: P90D, derived_retention: P1Y, owner: fraud team }
  - { id: default, title: Before the first policy, legal_basis: legitimate interest, raw_retention: P90D, derived_retention: P90D, owner: privacy officer }
actions: { payment: payments }
unmapped: refuse
`;

beforeAll(async () => {
  if (!hasChromium) return;
  const file = join(folder(), "purposes.yaml");
  writeFileSync(file, POLICY);
  await scene.drs("purpose", "apply", file);
  for (const account of [
    "mouse",
    "mouse",
    "keyboard",
    "keyboard",
    "asks",
    HOSTILE,
    "held",
    "held",
    "again",
    "again",
    "mend",
  ]) {
    await scene.store(account, "full-android");
  }
});

const folders: string[] = [];
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "drs-privacy-"));
  folders.push(made);
  return made;
}

afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true });
});

/** Counts the clicks of a story. */
class Clicks {
  count = 0;
  async on(locator: Locator): Promise<void> {
    this.count++;
    await locator.click();
  }
}

const rail = (page: Page, name: string): Locator =>
  page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true });
const button = (page: Page, name: string | RegExp): Locator => page.getByRole("button", { name });

/** Approves what a page shows. */
async function approve(other: Page, clicks = new Clicks()): Promise<void> {
  await clicks.on(button(other, "Approve"));
  await clicks.on(other.getByRole("dialog").getByRole("button", { name: "Approve" }));
  await other.getByText("approved, not yet used").first().waitFor();
}

/** The browser reports each answer of 4xx, and an approval that is needed is one. */
const messages = (): readonly string[] =>
  scene.takeMessages().filter((text) => !text.startsWith("Failed to load resource"));

async function saved(page: Page, press: () => Promise<void>): Promise<{ path: string; download: Download }> {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  const path = join(folder(), download.suggestedFilename());
  await download.saveAs(path);
  return { path, download };
}

describe.skipIf(!hasChromium)("a privacy officer (skipped without /usr/bin/chromium)", () => {
  test("erases an account, which another person approves, within eight clicks of both", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const clicks = new Clicks();
    await clicks.on(rail(page, "Erasures"));
    await page.getByLabel("Account to erase").waitFor();
    await page.keyboard.type("mouse");
    await page.keyboard.press("Enter");
    await button(page, "Erase 2 events of mouse").waitFor();
    expect(await page.locator(".panel").innerText()).toMatch(/Is kept by a hold\s+nothing/);
    await page.keyboard.type("request 4711");
    await clicks.on(button(page, "Erase 2 events of mouse"));
    await page.getByText("Next: another person approves").waitFor();
    await clicks.on(button(page, "Copy the link"));
    const link = await page.evaluate<string>("navigator.clipboard.readText()");

    const other = await scene.signIn("otto", ["operator"]);
    await other.goto(link);
    await other.getByRole("heading", { name: /^Erase/ }).waitFor();
    expect(await other.locator("article").innerText()).toMatch(/Events that are deleted\s+2/);
    await approve(other, clicks);

    await page.getByText("Approved by otto").waitFor();
    await clicks.on(button(page, "Go on"));
    await page.getByText("✓ Valid.").waitFor();
    const { path } = await saved(page, () => clicks.on(page.getByRole("link", { name: "Download the receipt" })));
    expect(clicks.count).toBeLessThanOrEqual(8);

    // The command verifies the same file, and nothing of the account is left.
    const pem = join(folder(), "receipts.pem");
    writeFileSync(pem, await scene.drs("receipt", "key"));
    expect(await scene.drs("receipt", "verify", path, "--public-key", pem)).toContain('"events":2');
    expect(await scene.drs("event", "list", "--account", "mouse", "--json")).toBe("");
    await verifiesDropped(page, path);
    expect(messages()).toEqual([]);
  });

  test("does the same by keyboard alone", async () => {
    const page = await scene.signIn("kim", ["privacy"]);
    await tabTo(page, /^Erasures$/);
    await page.keyboard.press("Enter");
    await page.getByLabel("Account to erase").waitFor();
    await page.keyboard.type("keyboard");
    await page.keyboard.press("Enter");
    await button(page, "Erase 2 events of keyboard").waitFor();
    await page.keyboard.type("request 4712");
    await tabTo(page, /^Erase 2 events/);
    await page.keyboard.press("Enter");
    await page.getByText("Next: another person approves").waitFor();
    const link = await page.locator(".next-step .mono").innerText();
    const other = await scene.signIn("otto", ["privacy"]);
    await other.goto(link);
    await button(other, "Approve").waitFor();
    await tabTo(other, /^Approve$/);
    await other.keyboard.press("Enter");
    await other.getByRole("dialog").waitFor();
    await tabTo(other, /^Approve$/);
    await other.keyboard.press("Enter");
    await other.getByText("approved, not yet used").first().waitFor();
    await page.getByText("Approved by otto").waitFor();
    await tabTo(page, /^Go on$/);
    await page.keyboard.press("Enter");
    await page.getByText("✓ Valid.").waitFor();
    await tabTo(page, /^Download the receipt$/);
    await saved(page, () => page.keyboard.press("Enter"));
    expect(messages()).toEqual([]);
  });

  test("answers an access request within eight clicks, and the deadline is visible", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    const clicks = new Clicks();
    await clicks.on(rail(page, "Requests"));
    await clicks.on(button(page, "Register a request"));
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.keyboard.type("asks");
    await dialog.getByLabel("How you checked the identity").fill("signed in, code by mail");
    await clicks.on(dialog.getByRole("button", { name: "Register" }));
    await page.getByRole("heading", { name: "Access for asks" }).waitFor();
    expect(await page.locator(".facts").innerText()).toMatch(/Deadline\s+due in (29|30) days/);
    await clicks.on(page.getByRole("button", { name: "Export" }));
    await page.getByText("Exported.").waitFor();
    const { path } = await saved(page, () => clicks.on(page.getByRole("link", { name: "Download the package" })));
    await clicks.on(button(page, "Close as done"));
    await page.getByText("Answered by the export").waitFor();
    expect(clicks.count).toBeLessThanOrEqual(8);
    const zip = readFileSync(path).toString("latin1");
    for (const name of ["index.html", "manifest.json", "events.ndjson"]) expect(zip).toContain(name);
    // Colleagues are named in one file, and the letter is not for the person yet.
    expect(zip.slice(zip.lastIndexOf("manifest.json"))).not.toContain("accesses.ndjson");
    expect(await scene.drs("request", "list", "--account", "asks", "--json")).toContain('"outcome":"done"');
    expect(messages()).toEqual([]);
  });

  test("sees what a shorter period would delete before anything changes, within six clicks", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    const clicks = new Clicks();
    await clicks.on(rail(page, "Purposes"));
    const events = page.getByRole("group", { name: "Fraud prevention" }).getByLabel("Events", { exact: true });
    await events.fill("30");
    await clicks.on(button(page, "Show what this deletes"));
    await page.getByText("deleted earlier than now").waitFor();
    expect(await page.locator(".figures").innerText()).toMatch(
      /deleted at once\s+0 events\s+deleted earlier than now\s+[1-9]\d* event/,
    );
    expect(await scene.drs("purpose", "list", "--json")).toContain('"raw_retention":"P90D"');
    await clicks.on(button(page, "Apply"));
    await page.getByText("Next: another person approves").waitFor();
    const link = await page.locator(".next-step .mono").innerText();
    const other = await scene.signIn("otto", ["operator"]);
    await other.goto(link);
    await approve(other, clicks);
    await page.getByText("Approved by otto").waitFor();
    await clicks.on(button(page, "Go on"));
    await page.getByText("active now").waitFor();
    expect(clicks.count).toBeLessThanOrEqual(6);
    expect(await scene.drs("purpose", "list", "--json")).toContain('"raw_retention":"P30D"');
    expect(messages()).toEqual([]);
  });

  test("finds the approval again after the page was loaded again and the server restarted", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/erasures?account=again`);
    await page.getByLabel("Reason").fill("4716 again");
    await button(page, "Erase 2 events of again").click();
    const link = await page.locator(".next-step .mono").innerText();
    await scene.restart();
    await page.reload();
    expect(await page.getByLabel("Reason").inputValue()).toBe("4716 again");
    await button(page, "Erase 2 events of again").click();
    expect(await page.locator(".next-step .mono").innerText()).toBe(link);
    const other = await scene.signIn("otto", ["operator"]);
    await other.goto(link);
    await approve(other);
    await page.goto(link);
    await page.getByText("Return to the page where you asked").waitFor();
    await page.goto(`${scene.url}/erasures?account=again&reason=4716+again`);
    await button(page, "Erase 2 events of again").click();
    await page.getByText("✓ Valid.").waitFor();
    expect(messages()).toEqual([]);
  });

  test("places a hold, erases in part, and reads what the end of the hold releases", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/holds`);
    await page.getByRole("heading", { name: "No holds" }).waitFor();
    await button(page, "Place a hold").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Its id").fill("held");
    await dialog.getByLabel("Reason").fill("dispute 4711");
    await dialog.getByLabel("Who decided it").fill("J. Doe");
    await dialog.getByLabel("Next review").fill("2099-01-31");
    await dialog.getByRole("button", { name: "Show what it covers" }).click();
    await dialog.getByText("2 events").waitFor();
    await dialog.getByRole("button", { name: "Place the hold" }).click();
    const row = page.getByRole("row", { name: /dispute 4711/ });
    await row.waitFor();
    await row.getByRole("button", { name: "Review" }).click();
    await dialog.getByLabel("Next review").fill("2098-01-31");
    await dialog.getByRole("button", { name: "Record the review" }).click();
    await row.getByText("2098-01-31").waitFor();

    await page.goto(`${scene.url}/erasures?account=held`);
    await page.getByLabel("Reason").fill("request 4713");
    await page.getByText("2 events, in copies that only the hold may use").waitFor();
    await button(page, "Erase 2 events of held").click();
    const link = await page.locator(".next-step .mono").innerText();
    const other = await scene.signIn("otto", ["operator"]);
    await other.goto(link);
    await approve(other);
    await button(page, "Go on").click();
    await page.getByText("Erased in part.").waitFor();

    await page.goto(`${scene.url}/holds`);
    await page
      .getByRole("row", { name: /dispute 4711/ })
      .getByRole("button", { name: "End" })
      .click();
    await dialog.getByLabel("Reason").fill("dispute 4711 is closed");
    await dialog.getByRole("button", { name: "Show what it releases" }).click();
    await button(page, "End it and release 2 events").waitFor();
    // Nothing has ended yet: this was the plan.
    expect(await scene.drs("hold", "list", "--json")).toContain('"lifted_at":null');
    expect(messages()).toEqual([]);
  });

  test("restricts an account for a request, closes it, and ends the restriction", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const added = ["--account", HOSTILE, "--kind", "objection", "--identity", "by mail"];
    const { request_id } = JSON.parse(await scene.drs("request", "add", ...added, "--json")) as { request_id: string };
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/requests/${request_id}`);
    await page.getByRole("heading", { name: `Objection for ${HOSTILE_SHOWN}` }).waitFor();
    await button(page, "Show what it hides").click();
    await button(page, "Hide 1 event").click();
    await page.getByText("✓ done").waitFor();
    await button(page, "Close as done").click();
    await page.getByText("Answered by the restriction").waitFor();
    await page.getByRole("link", { name: "see restrictions" }).click();
    const row = page.getByRole("row", { name: /objection/ });
    expect(await row.innerText()).toContain(HOSTILE_SHOWN);
    await row.getByRole("button", { name: "End" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("The person was informed on").fill(today);
    await dialog.getByLabel("Reason").fill("they withdrew it");
    await dialog.getByRole("button", { name: "Show what analysts see again" }).click();
    await dialog.getByText("1 event").waitFor();
    await dialog.getByRole("button", { name: "End the restriction" }).click();
    await page.getByText(`the person was informed on ${today}`).waitFor();
    expect(await page.title()).toBe("Device Risk Signals");
    expect(messages()).toEqual([]);
  });

  test("signs in again, and continues with what was typed", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/erasures?account=${encodeURIComponent(HOSTILE)}`);
    await refuseErasures(page, "step-up-required", 403);
    await page.getByLabel("Reason").fill("request 4714");
    await button(page, /^Erase 1 event of/).click();
    await page.getByText("One step before this: sign in again.").waitFor();
    await page.getByText("npx drs console link --person ann --role privacy").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.unrouteAll();
    await button(page, "I have signed in again").click();
    await page.getByText("✓ Valid.").waitFor();
    const receipt = await page.locator(".receipt").innerText();
    expect(receipt).toContain("request 4714");
    expect(messages()).toEqual([]);
  });

  test("sees what is overdue first, and can mend a reason that is refused", async () => {
    for (const [account, received] of [
      ["late", "2020-01-31"],
      ["today", new Date().toISOString().slice(0, 10)],
    ] as const) {
      await scene.drs("request", "add", "--account", account, "--kind", "erasure", "--received", received);
    }
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/requests`);
    const first = page
      .getByRole("region", { name: /^Open requests/ })
      .getByRole("row")
      .nth(1);
    expect(await first.innerText()).toMatch(/[\d,]+ days overdue \(2020-02-29\)\s+Erasure\s+late/);
    await first.getByRole("link").click();
    // Nothing was erased, so no text says it.
    await page.getByText("is here when the account is erased").waitFor();
    await page.goto(`${scene.url}/erasures?account=mend`);
    await refuseErasures(page, "request-invalid", 400);
    await page.getByLabel("Reason").fill("aaaaaaaa");
    await button(page, "Erase 1 event of mend").click();
    await page.getByText("The account was not erased").waitFor();
    await page.unrouteAll();
    await page.getByLabel("Reason").fill("request 4717");
    await button(page, "Erase 1 event of mend").click();
    await page.locator(".receipt, .next-step").waitFor();
    expect(messages()).toEqual([]);
  });

  test("sees that a receipt was changed", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/receipts`);
    for (const text of ["no receipt", "e30.e30.e30", "<script>.a.b"]) {
      const path = join(folder(), "receipt.jws");
      writeFileSync(path, text);
      await page.locator("input[type=file]").setInputFiles(path);
      await page.getByText("Not valid.").waitFor();
    }
    expect(messages()).toEqual([]);
  });

  test("with another role reads who may do it", async () => {
    const auditor = await scene.signIn("aud", ["auditor"]);
    await auditor.goto(`${scene.url}/purposes`);
    await auditor.getByText("A change of a period needs the role privacy").waitFor();
    await auditor.goto(`${scene.url}/holds`);
    await auditor.getByRole("row").nth(1).waitFor();
    expect(await button(auditor, /Place|Review|End/).count()).toBe(0);
    const analyst = await scene.signIn("ana", ["analyst"]);
    for (const path of ["requests", "erasures", "receipts", "holds", "restrictions", "purposes"]) {
      await analyst.goto(`${scene.url}/${path}`);
      await analyst.getByText(/needs the role privacy or auditor/).waitFor();
    }
    expect(messages()).toEqual([]);
  });

  test("may not approve their own request", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/erasures?account=own`);
    await page.getByText("Nothing is stored of this account").waitFor();
    await button(page, "Erase what backups have").click();
    await page.getByLabel("Reason").fill("request 4715");
    await button(page, /^Erase what backups have of/).click();
    const link = await page.locator(".next-step .mono").innerText();
    await page.goto(link);
    await button(page, "Withdraw").waitFor();
    expect(await button(page, "Approve").count()).toBe(0);
    await button(page, "Withdraw").click();
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("denied", { exact: true }).first().waitFor();
  });
});

async function refuseErasures(page: Page, code: string, status: number): Promise<void> {
  const problem = { type: `urn:problem:device-risk-signals:admin:${code}`, status, detail: "refused" };
  const refuse = { status, contentType: "application/problem+json", body: JSON.stringify(problem) };
  await page.route("**/admin/v1/erasures", (route) =>
    route.request().method() === "POST" ? route.fulfill(refuse) : route.continue(),
  );
}

/** Presses Tab until an element has the focus whose name matches. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let tabs = 0; tabs < 120; tabs++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate<string>("document.activeElement?.textContent ?? ''");
    if (name.test(focused)) return;
  }
  throw new Error(`Tab never reaches ${name}`);
}

/** Drops a receipt on its page, as it is and changed. */
async function verifiesDropped(page: Page, path: string): Promise<void> {
  await page.goto(`${scene.url}/receipts`);
  await page.locator("input[type=file]").setInputFiles(path);
  await page.getByText("✓ Valid.").waitFor();
  const [head, payload, signature] = readFileSync(path, "utf8").trim().split(".");
  const content = JSON.parse(Buffer.from(payload ?? "", "base64url").toString()) as Record<string, unknown>;
  const other = Buffer.from(JSON.stringify({ ...content, events: 0 })).toString("base64url");
  const changed = join(folder(), "changed.jws");
  writeFileSync(changed, `${head}.${other}.${signature}`);
  await page.locator("input[type=file]").setInputFiles(changed);
  await page.getByText("did not sign this text").waitFor();
}
