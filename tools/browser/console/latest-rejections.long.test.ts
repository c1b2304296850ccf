/** The integrator's view of requests as they are refused: which rule, where, why, and a request to try it again. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { authorized, freshKey, send, transport } from "../../../e2e/support/client.ts";
import { type Credentials, issueCredentials } from "../../../e2e/support/server.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();
const HOSTILE = `<img src=x onerror="document.title='run'">\u202E=cmd|'/c calc'`;
let who: Credentials;

/** Sends a request with the credentials of the account. @returns its status. */
async function post(from: Credentials, change: (body: ReturnType<typeof transport>) => unknown): Promise<number> {
  const body = transport(from);
  change(body);
  const headers = { ...authorized(from), "Idempotency-Key": freshKey() };
  return (await send({ url: scene.endpoint, headers, body: JSON.stringify(body) })).status;
}

beforeAll(async () => {
  if (!hasChromium) return;
  who = await issueCredentials(scene.environment, "4711");
  const hostile = await issueCredentials(scene.environment, HOSTILE);
  expect(await post(hostile, (body) => (body.action_id = HOSTILE))).toBe(403);
  expect(await post(hostile, (body) => Object.assign(body.observations, { probes: { [HOSTILE]: 1 } }))).toBe(400);
  expect((await send({ url: scene.endpoint, body: "{}" })).status).toBe(401);
});

const latest = async (page: Page): Promise<void> => {
  await page
    .getByRole("navigation", { name: "Screens" })
    .getByRole("link", { name: "Rejected requests", exact: true })
    .click();
  await page.getByRole("navigation", { name: "Rejected requests" }).getByRole("link", { name: "Latest" }).click();
};

describe.skipIf(!hasChromium)("the latest rejected requests (skipped without Chromium)", () => {
  test("show a refused request within seconds, with its rule, and by a filter only those of its account", async () => {
    const page = await scene.signIn("ivo", ["investigator"]);
    await latest(page);
    await page.locator("summary").first().waitFor();
    expect(await post(who, (body) => delete (body as { platform?: string }).platform)).toBe(400);
    const row = page.locator("summary", { hasText: "member-missing" });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/400 Request invalid: member-missing\s+\/platform\s+SDK 1\.2\.3\s+4711/);
    await row.click();
    const shown = await page.locator("details[open]").innerText();
    expect(shown).toContain("A required member is absent.");
    expect(shown).toContain("urn:problem:device-risk-signals:request-invalid");
    await page.locator("details[open]").getByRole("link", { name: "Only this account" }).click();
    await expect.poll(() => page.locator("summary").count()).toBe(1);
    await page.getByRole("link", { name: "Remove account" }).click();
    await expect.poll(() => page.locator("summary").count()).toBe(4);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("say why an action was refused, and lead to the timeline of a key of the account", async () => {
    const page = await scene.signIn("ivo", ["analyst"]);
    await latest(page);
    await page.locator("summary", { hasText: "403 Action refused: unknown" }).click();
    const details = page.locator("details[open]");
    expect(await details.innerText()).toContain("The action is unknown.");
    await details.getByRole("link", { name: "What became of a key of this account" }).click();
    await page.getByText("A key belongs to the account").waitFor();
    expect(await page.getByLabel("Account", { exact: true }).inputValue()).toBe(HOSTILE);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("copy a request that gets the same rejection, with nothing of the client in it", async () => {
    const page = await scene.signIn("ivo", ["investigator"]);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await latest(page);
    await page.locator("summary").first().waitFor();
    const rows = await page.locator("summary").count();
    for (let row = 0; row < rows; row++) {
      await page.locator("summary").nth(row).click();
      const details = page.locator("details[open]");
      await details.getByRole("button", { name: "Copy as curl" }).click();
      await details.getByText("Copied").waitFor();
      const text = await page.evaluate<string>("navigator.clipboard.readText()");
      for (const secret of ["4711", "<img", "=cmd", who.token, who.actionId]) expect(text).not.toContain(secret);
      const fresh = await issueCredentials(scene.environment, "curl");
      const variables = {
        ENDPOINT: scene.endpoint,
        SESSION_TOKEN: fresh.token,
        ACTION_ID: fresh.actionId,
        ACTION_TYPE: fresh.actionType,
        SESSION_ID: fresh.sessionId,
      };
      const { stdout } = await promisify(execFile)("sh", ["-c", text.replace("curl -i", "curl -si")], {
        env: { ...process.env, ...variables },
      });
      const rejection = /^# Is refused again: (\d+) .*?(?:, ([a-z-]+) at (\S+))?$/m.exec(text);
      expect(rejection, text).not.toBeNull();
      const [, status = "", violation, place] = rejection ?? [];
      expect(stdout).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      if (violation) expect(stdout).toContain(`"code":"${violation}"`);
      if (place) expect(stdout).toContain(place.replaceAll("*", "example"));
      await page.locator("details[open] summary").click();
    }
    expect(scene.takeMessages()).toEqual([]);
  });

  test("are pseudonyms of accounts for an operator, and for other roles the roles that may read them", async () => {
    const operator = await scene.signIn("olga", ["operator"]);
    await latest(operator);
    await operator.locator("summary").first().waitFor();
    expect(await operator.locator("main").innerText()).not.toContain("4711");
    const privacy = await scene.signIn("pia", ["privacy"]);
    await privacy.goto(`${scene.url}/rejections/latest`);
    await privacy.getByText("needs the role operator or analyst or investigator").waitFor();
    expect(scene.takeMessages()).toEqual([]);
  });

  test("ask nothing while the page is hidden", async () => {
    const page = await scene.signIn("ivo", ["analyst"]);
    await latest(page);
    await page.locator("summary").first().waitFor();
    let calls = 0;
    page.on("request", (request) => void (request.url().includes("/rejections/recent") && calls++));
    await page.evaluate(
      `Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
       document.dispatchEvent(new Event("visibilitychange"))`,
    );
    await page.waitForTimeout(5_000);
    expect(calls).toBeLessThanOrEqual(1);
  });
});
