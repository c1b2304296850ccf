/** An approval by a second person; who may sign in, and the end of sessions, tokens and cases. */
import { beforeAll, describe, expect, test } from "vitest";
import { askForToken, fetchAs, openEvent } from "./calls.ts";
import { expectAccessible } from "./every-window.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole({ settings: { DRS_APPROVAL_EVENTS: "1" } });

beforeAll(async () => {
  if (!hasChromium) return;
  const event = await scene.store("4711", "full-android");
  const page = await scene.signIn("ines", ["investigator"]);
  await openEvent(page, event, "the customer says that he was blocked", "FR-4711");
  await page.close();
  await scene.drs("audit", "checkpoint");
});

describe.skipIf(!hasChromium)("an approval (skipped without Chromium)", () => {
  test("is given by a second person, who sees what is approved, and says why", async () => {
    const operator = await scene.signIn("olga", ["operator"]);
    await askForToken(operator, "lena");
    await operator.goto(`${scene.url}/approvals`);
    await operator.getByText("You asked for this: another person with the role privacy decides.").waitFor();
    expect(await operator.getByRole("button", { name: "Approve" }).count()).toBe(0);
    const page = await scene.signIn("pat", ["privacy"]);
    await page.getByRole("link", { name: "Approvals", exact: true }).click();
    const card = page.getByRole("article").filter({ hasText: "lena" });
    expect(await card.innerText()).toMatch(/olga.*\d+ seconds? ago|olga, now/);
    expect(await card.getByRole("heading").first().innerText()).toBe("Issue an admin token to lena");
    expect(await card.innerText()).toMatch(/Valid for\s+30 days/);
    await card.getByRole("button", { name: "Approve" }).click();
    await page.getByLabel("Why (optional)").fill("lena joined the team");
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByRole("status").getByText("approved, not yet used").waitFor();
    await page.getByText("Nothing waits").waitFor();
    await operator.reload();
    await operator.getByRole("cell", { name: "pat" }).waitFor();
    const auditor = await scene.signIn("ann", ["auditor"]);
    await auditor.goto(`${scene.url}/audit/entries?operation=approval.approve`);
    await auditor.getByRole("row", { name: /lena joined the team/ }).waitFor();
    expect(scene.takeMessages().filter((text) => !text.includes("409"))).toEqual([]);
  });

  test("shows what an erasure would delete, the most important first", async () => {
    await scene.store("4712", "full-ios");
    await scene.store("4712", "full-ios");
    const asker = await scene.signIn("petra", ["privacy"]);
    const erasure = { account: "4712", reason: "request 17" };
    expect((await fetchAs(asker, "POST", "/erasures", erasure)).status).toBe(409);
    const page = await scene.signIn("olga", ["operator"]);
    await page.goto(`${scene.url}/approvals`);
    const card = page.getByRole("article").filter({ hasText: "Erase 2 events of one account" });
    expect(await card.locator("dl.data dt").first().innerText()).toBe("Events that are deleted");
    expect(await card.innerText()).toMatch(/None: events that a hold keeps until it ends;/);
    // An approval never has the name of an account.
    expect(await card.innerText()).not.toContain("4712");
    await card.getByRole("button", { name: "Deny" }).click();
    await page.getByLabel("Why").fill("the request was not checked");
    await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
    await page.getByText("Erase 2 events of one account: denied.").waitFor();
    expect(scene.takeMessages().filter((text) => !text.includes("409"))).toEqual([]);
  });

  test("leads to a new sign-in if the last one is old, and keeps what was typed", async () => {
    const operator = await scene.signIn("olga", ["operator"]);
    const id = await askForToken(operator, "mira");
    const page = await scene.signIn("pat o'neil", ["privacy"]);
    await page.goto(`${scene.url}/approvals/${id}`);
    const problem = { type: "urn:problem:device-risk-signals:admin:step-up-required", status: 403, detail: "old" };
    const pattern = "**/deny";
    await page.route(pattern, (route) =>
      route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify(problem) }),
    );
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByLabel("Why").fill("mira left the team");
    await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
    await page.getByText("One step before this: sign in again.").waitFor();
    await page.getByText(`npx drs console link --person 'pat o'\\''neil' --role privacy`).waitFor();
    await expectAccessible(page);
    await page.unroute(pattern);
    // The link signs the same browser in, in another tab.
    const tab = await scene.signIn("pat o'neil", ["privacy"], page.context());
    await tab.close();
    await page.getByRole("button", { name: "I have signed in again" }).click();
    await page.getByText("denied", { exact: true }).waitFor();
    const auditor = await scene.signIn("ann", ["auditor"]);
    await auditor.goto(`${scene.url}/audit/entries?operation=approval.deny`);
    await auditor.getByRole("row", { name: /mira left the team/ }).waitFor();
    expect(scene.takeMessages().filter((text) => !/40[39]/.test(text))).toEqual([]);
  });

  test("is withdrawn by the person who asked, and not decided by a person without its role", async () => {
    const operator = await scene.signIn("olga", ["operator"]);
    const id = await askForToken(operator, "nora");
    const analyst = await scene.signIn("ana", ["analyst"]);
    await analyst.goto(`${scene.url}/approvals/${id}`);
    await analyst.getByText("The decision needs another person with the role privacy. You have: analyst.").waitFor();
    await operator.goto(`${scene.url}/approvals/${id}`);
    await operator.getByRole("button", { name: "Withdraw" }).click();
    await operator.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
    await operator.getByText("Withdrawn by").waitFor();
    expect(scene.takeMessages().filter((text) => !text.includes("409"))).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("the screens of access (skipped without Chromium)", () => {
  test("end the session of a person, whose page leads to the sign-in", async () => {
    const eve = await scene.signIn("eve", ["analyst"]);
    const page = await scene.signIn("olga", ["operator"]);
    await page.getByRole("link", { name: "Access" }).click();
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.getByRole("button", { name: /^End the session of eve/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End" }).click();
    await expect.poll(() => page.getByRole("button", { name: /^End the session of eve/ }).count()).toBe(0);
    await eve.getByRole("link", { name: "Audit" }).click();
    await eve.getByText("npx drs console link").waitFor();
    scene.takeMessages();
  });

  test("revoke admin tokens, one by one or all of a person", async () => {
    for (const person of ["bot", "bot", "bot"]) {
      await scene.drs("admin-token", "issue", "--person", person, "--role", "analyst", "--ttl", "1d");
    }
    const page = await scene.signIn("pat", ["privacy"]);
    await page.goto(`${scene.url}/access/tokens`);
    const revoke = page.getByRole("button", { name: /^Revoke the token of bot/ });
    await revoke.first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => revoke.count()).toBe(2);
    await page.getByRole("link", { name: "People" }).click();
    await page.getByRole("button", { name: "Revoke all admin tokens of bot" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke all" }).click();
    await page.getByRole("link", { name: "Admin tokens" }).click();
    await expect.poll(() => page.getByText(/^revoked /).count()).toBe(3);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("show an investigator the own cases, which only the opener closes", async () => {
    const page = await scene.signIn("ines", ["investigator"]);
    await page.goto(`${scene.url}/access/cases?open=true`);
    const close = page.getByRole("row", { name: /FR-4711/ }).getByRole("button", { name: /^Close the case/ });
    const auditor = await scene.signIn("ann", ["auditor"]);
    await auditor.goto(`${scene.url}/access/cases`);
    await auditor.getByRole("row", { name: /FR-4711/ }).waitFor();
    expect(await auditor.getByRole("button", { name: /^Close the case/ }).count()).toBe(0);
    await close.click();
    await page.getByRole("dialog").getByRole("button", { name: "Close", exact: true }).last().click();
    await expect.poll(() => page.getByRole("row", { name: /FR-4711/ }).count()).toBe(0);
    await page.getByText("You see the cases that you opened.").waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });

  test("name the roles that may do what a person may not", async () => {
    const page = await scene.signIn("ana", ["analyst"]);
    for (const [path, text] of [
      ["/access", "The list of people needs the role operator or privacy or auditor. You have: analyst."],
      ["/access/sessions", "The list of sessions needs the role operator or privacy or auditor."],
      ["/access/tokens", "The list of admin tokens needs the role operator or privacy or auditor."],
      ["/audit/reviews", "The list of reviews needs the role auditor."],
      ["/audit", "Verifying the log needs the role auditor."],
    ] as const) {
      await page.goto(`${scene.url}${path}`);
      await page.getByText(text).waitFor();
    }
    await page.getByText("You see what you did yourself.").waitFor();
    await page.goto(`${scene.url}/audit/entries`);
    await page.getByText("You see your own entries.").waitFor();
    expect(await page.getByRole("button", { name: /^Download the proof/ }).count()).toBe(0);
    const auditor = await scene.signIn("ann", ["auditor"]);
    await auditor.goto(`${scene.url}/access/sessions`);
    await auditor.getByRole("row").nth(1).waitFor();
    expect(await auditor.getByRole("button", { name: /^End the session/ }).count()).toBe(0);
    expect(scene.takeMessages()).toEqual([]);
  });
});
