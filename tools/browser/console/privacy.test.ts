/**
 * The stories of a privacy officer without a terminal: erase an account, which another person approves; answer an
 * access request; see what a change of a period would delete.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { axe } from "./axe.ts";
import { Hand, WAYS } from "./hand.ts";
import { answerAccess, approve, button, type Colleague, eraseAccount, folder, shortenPeriod } from "./privacy-walks.ts";
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
    "asks-by-mouse",
    "asks-by-keyboard",
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

/** The browser reports each answer of 4xx, and an approval that is needed is one. */
const messages = (): readonly string[] =>
  scene.takeMessages().filter((text) => !text.startsWith("Failed to load resource"));

/** A person with the role operator, who opens a link. */
const otto: Colleague = async (link) => {
  const page = await scene.signIn("otto", ["operator"]);
  await page.goto(link);
  return page;
};

describe.skipIf(!hasChromium)("a privacy officer (skipped without Chromium)", () => {
  test.each(WAYS)("erases an account by %s, which another person approves, within eight of both", async (way) => {
    const page = await scene.signIn("ann", ["privacy"]);
    const hand = new Hand(way);
    const receipt = await eraseAccount(hand, page, way, otto);
    expect(hand.count).toBeLessThanOrEqual(8);

    // The command verifies the same file, and nothing of the account is left.
    const pem = join(folder(), "receipts.pem");
    writeFileSync(pem, await scene.drs("receipt", "key"));
    expect(await scene.drs("receipt", "verify", receipt, "--public-key", pem)).toContain('"events":2');
    expect(await scene.drs("event", "list", "--account", way, "--json")).toBe("");
    await verifiesDropped(page, receipt);
    expect(messages()).toEqual([]);
  });

  test.each(WAYS)("answers an access request by %s within eight, and the deadline is visible", async (way) => {
    const account = `asks-by-${way}`;
    const page = await scene.signIn("ann", ["privacy"]);
    const hand = new Hand(way);
    const zip = readFileSync(await answerAccess(hand, page, account)).toString("latin1");
    expect(hand.count).toBeLessThanOrEqual(8);
    for (const name of ["index.html", "manifest.json", "events.ndjson"]) expect(zip).toContain(name);
    // Colleagues are named in one file, and the letter is not for the person yet.
    expect(zip.slice(zip.lastIndexOf("manifest.json"))).not.toContain("accesses.ndjson");
    expect(await scene.drs("request", "list", "--account", account, "--json")).toContain('"outcome":"done"');
    expect(messages()).toEqual([]);
  });

  test.each([
    ["mouse", 60],
    ["keyboard", 30],
  ] as const)(
    "sees by %s what a shorter period would delete before anything changes, within six",
    async (way, days) => {
      const page = await scene.signIn("ann", ["privacy"]);
      const hand = new Hand(way);
      await shortenPeriod(hand, page, days, otto, async () => {
        expect(await page.locator(".figures").innerText()).toMatch(
          /deleted earlier than planned\s+[1-9]\d* events?\s+of these, deleted at once\s+0 events/,
        );
        expect(await scene.drs("purpose", "list", "--json")).not.toContain(`"raw_retention":"P${days}D"`);
      });
      expect(hand.count).toBeLessThanOrEqual(6);
      expect(await scene.drs("purpose", "list", "--json")).toContain(`"raw_retention":"P${days}D"`);
      expect(messages()).toEqual([]);
    },
  );

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
    await approve(new Hand("mouse"), other);
    await page.goto(link);
    await page.getByText("Return to the page where you asked").waitFor();
    await page.goto(`${scene.url}/erasures?account=again&reason=4716+again`);
    await button(page, "Erase 2 events of again").click();
    await page.getByText("✓ Valid.").waitFor();
    // The history of the browser keeps no name of an erased account.
    expect(page.url()).toBe(`${scene.url}/erasures`);
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
    await page.getByText("the same 2 events, in copies that only the hold may use").waitFor();
    await page.getByText("dispute 4711, next review 2098-01-31").waitFor();
    await button(page, "Erase 2 events of held").click();
    const link = await page.locator(".next-step .mono").innerText();
    const other = await scene.signIn("otto", ["operator"]);
    await other.goto(link);
    await approve(new Hand("mouse"), other);
    await button(page, "Go on").click();
    await page.getByText("Erased in part.").waitFor();

    await page.goto(`${scene.url}/holds`);
    await page
      .getByRole("row", { name: /dispute 4711/ })
      .getByRole("button", { name: "End" })
      .click();
    await dialog.getByRole("heading", { name: "End the hold on held (dispute 4711)" }).waitFor();
    await dialog.getByRole("button", { name: "Show what it releases" }).click();
    await button(page, "End it and release 2 events").waitFor();
    await dialog.getByLabel("Reason").waitFor();
    // Nothing has ended yet: this was the plan, and the log does not say otherwise.
    expect(await scene.drs("hold", "list", "--json")).toContain('"lifted_at":null');
    const auditor = await scene.signIn("aud", ["auditor"]);
    await auditor.goto(`${scene.url}/audit/entries?operation=hold.lift`);
    await auditor.getByRole("cell", { name: "looked at what ending a hold would release" }).first().waitFor();
    expect(await auditor.getByRole("cell", { name: "ended a hold" }).count()).toBe(0);
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

  test("reads which command prints the link of a new sign-in", async () => {
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/erasures?account=${encodeURIComponent(HOSTILE)}`);
    // A link is recent for five minutes. In provider.test.ts the server asks by itself.
    await refuseErasures(page, "step-up-required", 403);
    await page.getByLabel("Reason").fill("request 4714");
    await button(page, /^Erase 1 event of/).click();
    await page.getByText("npx drs console link --person ann --role privacy").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.unrouteAll();
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
    // What can't be undone waits for the identity.
    await page.getByText("An erasure can't be undone: first check who asks for it").waitFor();
    await page.getByLabel("How you checked the identity").first().fill("signed in, code by mail");
    await button(page, "The identity is checked").click();
    await button(page, "Erase what backups have").waitFor();
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

  test("reads which step a request lacks that can't be closed yet", async () => {
    const added = ["--account", "asks-by-mouse", "--kind", "erasure", "--identity", "by mail"];
    const { request_id } = JSON.parse(await scene.drs("request", "add", ...added, "--json")) as { request_id: string };
    const page = await scene.signIn("ann", ["privacy"]);
    await page.goto(`${scene.url}/requests/${request_id}`);
    await button(page, "Close as done").click();
    await page.getByText("First do the step “See the plan, and erase” above").waitFor();
    expect(await page.getByRole("alert").innerText()).not.toContain("drs ");
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

/** Drops a receipt on its page, as it is and changed. */
async function verifiesDropped(page: Page, path: string): Promise<void> {
  await page.goto(`${scene.url}/receipts`);
  await drop(page, "kept.jws", readFileSync(path, "utf8"));
  await page.getByText("✓ Valid.").waitFor();
  await page.getByText("The file kept.jws").waitFor();
  const [head, payload, signature] = readFileSync(path, "utf8").trim().split(".");
  const content = JSON.parse(Buffer.from(payload ?? "", "base64url").toString()) as Record<string, unknown>;
  const other = Buffer.from(JSON.stringify({ ...content, events: 0 })).toString("base64url");
  await drop(page, "changed.jws", `${head}.${other}.${signature}`);
  await page.getByText("did not sign this text").waitFor();
  await page.getByText("The file changed.jws").waitFor();
  await page.getByText("Not valid.").waitFor();
}

/** Drops a file on the page, as from a folder of the desktop. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle<unknown>(
    `(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
      return transfer;
    })()`,
  );
  await page.locator(".drop").dispatchEvent("drop", { dataTransfer });
}
