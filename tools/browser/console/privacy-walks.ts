/** The stories of a privacy officer, which people walk by each hand and after each way to sign in. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import { type Hand, rail } from "./hand.ts";

export const button = (page: Page | Locator, name: string | RegExp): Locator => page.getByRole("button", { name });

const folders: string[] = [];

/** Makes a folder, until the end of the test file. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "drs-privacy-"));
  folders.push(made);
  return made;
}

afterAll(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true });
});

/** @returns the path of what a press downloads. */
export async function saved(page: Page, press: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  const path = join(folder(), download.suggestedFilename());
  await download.saveAs(path);
  return path;
}

/** What a person does on a page that asks for a recent sign-in. */
export type Proof = (hand: Hand, page: Page) => Promise<void>;
/** A link of `drs console link` and a provider that says when a person authenticated are a proof already. */
const NO_PROOF: Proof = async () => {};

/** Approves what a page shows. */
export async function approve(hand: Hand, other: Page, prove = NO_PROOF): Promise<void> {
  await hand.press(button(other, "Approve"));
  await hand.press(button(other.getByRole("dialog"), "Approve"));
  await prove(hand, other);
  await other.getByText("approved, not yet used").first().waitFor();
}

/** The page of somebody else, who got the link of an approval. */
export type Colleague = (link: string) => Promise<Page>;

/** Erases an account with two events, which a colleague approves. @returns the path of the receipt. */
export async function eraseAccount(
  hand: Hand,
  page: Page,
  account: string,
  colleague: Colleague,
  prove = NO_PROOF,
): Promise<string> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await hand.press(rail(page, "Erasures"));
  await page.getByLabel("Account to erase").waitFor();
  await page.keyboard.type(account);
  await page.keyboard.press("Enter");
  const erase = button(page, `Erase 2 events of ${account}`);
  await erase.waitFor();
  expect(await page.locator(".panel").innerText()).toMatch(/Is kept by a hold\s+nothing/);
  await page.keyboard.type("request 4711");
  await hand.press(erase);
  await prove(hand, page);
  await page.getByText("Next: another person approves").waitFor();
  await hand.press(button(page, "Copy the link"));
  const other = await colleague(await page.evaluate<string>("navigator.clipboard.readText()"));
  await other.getByRole("heading", { name: /^Erase/ }).waitFor();
  expect(await other.locator("article").innerText()).toMatch(/Events that are deleted\s+2/);
  await approve(hand, other, prove);
  await page.getByText(/^Approved by /).waitFor();
  await hand.press(button(page, "Go on"));
  await page.getByText("✓ Valid.").waitFor();
  return saved(page, () => hand.press(page.getByRole("link", { name: "Download the receipt" })));
}

/** Answers an access request. @returns the path of the package. */
export async function answerAccess(hand: Hand, page: Page, account: string, prove = NO_PROOF): Promise<string> {
  await hand.press(rail(page, "Requests"));
  await hand.press(button(page, "Register a request"));
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await page.keyboard.type(account);
  await hand.type(dialog.getByLabel("How you checked the identity"), "signed in, code by mail");
  await hand.press(button(dialog, "Register"));
  await page.getByRole("heading", { name: `Access for ${account}` }).waitFor();
  expect(await page.locator(".facts").innerText()).toMatch(/Deadline\s+due in (28|29|30|31) days/);
  await hand.press(button(page, "Export"));
  await prove(hand, page);
  await page.getByText("Exported.").waitFor();
  const path = await saved(page, () => hand.press(page.getByRole("link", { name: "Download the package" })));
  await hand.press(button(page, "Close as done"));
  await page.getByText("Answered by the export").waitFor();
  expect(await page.locator(".facts").innerText()).toMatch(/Was due\s+[\d-]+, closed in time/);
  return path;
}

/** Shortens a period, which a colleague approves. @param check looks at what would be deleted, before it is applied. */
export async function shortenPeriod(
  hand: Hand,
  page: Page,
  days: number,
  colleague: Colleague,
  check: () => Promise<void>,
): Promise<void> {
  await hand.press(rail(page, "Purposes"));
  const events = page.getByRole("group", { name: "Fraud prevention" }).getByLabel("Events", { exact: true });
  await hand.type(events, String(days));
  await hand.press(button(page, "Show what this deletes"));
  await page.getByText("deleted earlier than planned").waitFor();
  await check();
  await hand.press(button(page, "Apply"));
  await page.getByText("Next: another person approves").waitFor();
  await approve(hand, await colleague(await page.locator(".next-step .mono").innerText()));
  await page.getByText(/^Approved by /).waitFor();
  await hand.press(button(page, "Go on"));
  await page.getByText("active now").waitFor();
}
