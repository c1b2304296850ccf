/**
 * The auditor's story: who opened which events, why, and under which case; is the log complete and confirmed outside;
 * download the proof. An approval by a second person. Who may sign in, and the end of sessions, tokens and cases.
 */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { expectAccessible } from "./every-window.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();
const MAX_CLICKS = 4;
const HOSTILE = `<img src=x onerror="document.title='run'">\u202Egnp.exe`;
let event = "";

/** Calls a route from a page, with the session of its person. */
const fetchAs = (page: Page, method: string, path: string, body?: object): Promise<{ status: number; json: any }> =>
  page.evaluate(
    ([verb, route, text]) =>
      fetch(`/admin/v1${route}`, {
        method: verb as string,
        ...(text !== "" && { headers: { "Content-Type": "application/json" }, body: text as string }),
      }).then(async (answer) => ({ status: answer.status, json: await answer.json() })),
    [method, path, body ? JSON.stringify(body) : ""],
  );

/** Opens an event under a case. */
async function openEvent(page: Page, reason: string, ticket: string): Promise<void> {
  const { json } = await fetchAs(page, "POST", "/cases", { category: "dispute", reason, ticket, account: "4711" });
  const opened = await fetchAs(page, "POST", `/events/${event}/observations`, { case_id: json.case_id });
  expect(opened.status).toBe(200);
}

/** Asks for a token, which needs the approval of a person with the role privacy. @returns the id of the approval. */
async function askForToken(page: Page, person: string): Promise<string> {
  const wanted = { person, roles: ["analyst"], ttl_ms: 2_592_000_000 };
  const { status } = await fetchAs(page, "POST", "/admin-tokens", wanted);
  expect(status).toBe(409);
  const { json } = await fetchAs(page, "GET", "/approvals");
  return json.approvals.find(({ parameters }: any) => parameters.person === person).approval_id;
}

beforeAll(async () => {
  if (!hasChromium) return;
  event = await scene.store("4711", "full-android");
  const page = await scene.signIn("ines", ["investigator"]);
  await openEvent(page, "the customer says that he was blocked", "FR-4711");
  await openEvent(page, HOSTILE, HOSTILE.slice(0, 100));
  await page.close();
  await scene.drs("audit", "checkpoint");
});

/** What every way through the story must have shown. */
async function expectAnswers(page: Page): Promise<void> {
  const row = page.getByRole("row", { name: /FR-4711/ });
  expect(await row.innerText()).toMatch(/ines.*browser/);
  expect(await row.innerText()).toContain("opened the observations of an event");
  expect(await row.innerText()).toContain("the customer says that he was blocked");
  expect(await row.getByTitle(event).count()).toBe(1);
}

describe.skipIf(!hasChromium)("an auditor (skipped without /usr/bin/chromium)", () => {
  test("sees by mouse who opened what, that the log is complete, and takes the proof, within four clicks", async () => {
    const page = await scene.signIn("ann", ["auditor"]);
    let clicks = 0;
    const click = async (locator: ReturnType<Page["locator"]>): Promise<void> => {
      clicks++;
      await locator.click();
    };
    await click(page.getByRole("link", { name: "Audit", exact: true }));
    await click(page.getByRole("button", { name: "Verify the log now" }));
    await page.getByText(/^Complete, and confirmed outside: \d+ entries\.$/).waitFor();
    const sink = page.getByRole("region", { name: "What is kept outside of the database" }).getByRole("row").nth(1);
    expect(await sink.innerText()).toMatch(/the erasure journal\s+confirms all of it\s+\d+ entries\s+\d{4}-\d\d-\d\d/);
    const read = page.getByRole("row", { name: /ines.*FR-4711/ });
    expect(await read.innerText()).toMatch(/dispute/);
    await click(read.getByRole("link"));
    await expectAnswers(page);
    const downloading = page.waitForEvent("download");
    await click(page.getByRole("row", { name: /FR-4711/ }).getByRole("button", { name: /^Download the proof/ }));
    const proof = await readFile(await (await downloading).path(), "utf8");
    expect(proof).toMatch(/^c2sp\.org\/tlog-proof@v1\n/);
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("does the same by keyboard alone", async () => {
    const page = await scene.signIn("kai", ["auditor"]);
    /** Presses Tab until an element has the focus whose name matches. */
    const tabTo = async (name: RegExp): Promise<void> => {
      for (let tabs = 0; tabs < 120; tabs++) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate<string>(
          "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''",
        );
        if (name.test(focused)) return;
      }
      throw new Error(`Tab never reaches ${name}`);
    };
    await tabTo(/^Audit$/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Verify the log now" }).waitFor();
    await page.getByRole("row", { name: /FR-4711/ }).waitFor();
    await tabTo(/^Verify the log now$/);
    await page.keyboard.press("Enter");
    await page.getByText(/^Complete, /).waitFor();
    await tabTo(/^opened the observations of an event$/);
    await page.keyboard.press("Enter");
    await expectAnswers(page);
    await tabTo(/^Download the proof/);
    const downloading = page.waitForEvent("download");
    await page.keyboard.press("Enter");
    expect((await downloading).suggestedFilename()).toMatch(/^[0-9a-f-]{36}\.tlog-proof$/);
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

  test("hands over a link to a verification, and to an entry however old it is", async () => {
    const page = await scene.signIn("ann", ["auditor"]);
    await page.goto(`${scene.url}/audit`);
    await page.getByRole("button", { name: "Verify the log now" }).click();
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
    await page.getByRole("row", { name: /ines/ }).waitFor();
    const other = await scene.signIn("kai", ["auditor"]);
    await other.goto(`${scene.url}/audit/reviews`);
    await other.getByRole("row", { name: /ines/ }).getByRole("button", { name: "Close" }).click();
    await other.getByLabel("Result").fill("the read was justified");
    await other.getByRole("button", { name: "Close the review" }).click();
    await other.getByText("No review is open").waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("an approval (skipped without /usr/bin/chromium)", () => {
  test("is given by a second person, who sees what is approved, and says why", async () => {
    const operator = await scene.signIn("olga", ["operator"]);
    await askForToken(operator, "lena");
    await operator.goto(`${scene.url}/approvals`);
    await operator.getByText("You asked for this: another person with the role privacy decides.").waitFor();
    expect(await operator.getByRole("button", { name: "Approve" }).count()).toBe(0);
    const page = await scene.signIn("pat", ["privacy"]);
    await page.getByRole("link", { name: "Approvals" }).click();
    const card = page.getByRole("article").filter({ hasText: "lena" });
    expect(await card.innerText()).toMatch(/olga.*\d+ seconds? ago|olga, now/);
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

  test("is withdrawn by the person who asked, and decided by nobody without its role", async () => {
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

describe.skipIf(!hasChromium)("the screens of access (skipped without /usr/bin/chromium)", () => {
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

const PATHS = {
  "/approvals": "**/admin/v1/approvals*",
  "/audit": "**/admin/v1/audit/reads*",
  "/audit/entries": "**/admin/v1/audit?*",
  "/audit/reviews": "**/admin/v1/audit/reviews",
  "/access": "**/admin/v1/people*",
  "/access/sessions": "**/admin/v1/sessions*",
  "/access/tokens": "**/admin/v1/admin-tokens*",
  "/access/cases": "**/admin/v1/cases*",
} as const;

describe.skipIf(!hasChromium)("the screen (skipped without /usr/bin/chromium)", () => {
  const ROLES = ["operator", "privacy", "auditor"];

  test.each(Object.entries(PATHS))(
    "%s is accessible and fits each window in each of its states",
    async (path, calls) => {
      const page = await scene.signIn("mia", ROLES);
      await askForToken(page, `o${path.length}${"w".repeat(110)}`);
      const states = {
        filled: async () => {},
        loading: () => page.route(calls, () => new Promise(() => {})),
        failed: () =>
          page.route(calls, (route) =>
            route.fulfill({
              status: 503,
              contentType: "application/problem+json",
              body: JSON.stringify({
                type: "urn:problem:device-risk-signals:admin:unavailable",
                status: 503,
                detail: "x",
              }),
            }),
          ),
      };
      for (const [state, arrange] of Object.entries(states)) {
        await arrange();
        await page.goto(`${scene.url}${path}`);
        const shown = { filled: "main h1", loading: ".skeleton", failed: "[role=alert] button" }[state] ?? "";
        await page.locator(shown).first().waitFor();
        if (state === "filled") await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
        await expectAccessible(page);
        await page.unrouteAll({ behavior: "ignoreErrors" });
      }
      expect(scene.takeMessages().filter((text) => !text.startsWith("Failed to load resource"))).toEqual([]);
    },
  );

  test("of a verification and of an entry with its details is accessible and fits each window", async () => {
    const page = await scene.signIn("mia", ROLES);
    await page.goto(`${scene.url}/audit`);
    await page.getByRole("button", { name: "Verify the log now" }).click();
    await page.getByText(/^Complete, /).waitFor();
    await expectAccessible(page);
    await page.goto(`${scene.url}/audit/entries?person=ines&operation=event.read_observations`);
    await page
      .getByRole("row", { name: /FR-4711/ })
      .getByRole("link")
      .first()
      .click();
    await page.getByRole("article").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Open a review" }).click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page);
    expect(scene.takeMessages()).toEqual([]);
  });
});
