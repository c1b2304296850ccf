/**
 * Tests of what only a real browser decides: which cookies it keeps and sends, and what it reports about the requesting
 * page.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../e2e/support/database.ts";
import { type SignInServer, startSignInServer } from "../../e2e/support/sign-in-server.ts";
import { useFolder } from "../../e2e/support/use-folder.ts";
import { hasChromium, launchChromium } from "./chromium.ts";

const folder = useFolder();
let database: TestDatabase;
let scene: SignInServer;
let browser: Browser;

beforeAll(async () => {
  if (!hasChromium) return;
  database = await sharedDatabase();
  scene = await startSignInServer(await database.environment(), folder());
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await scene?.stop();
  await database?.close();
});

const at = (path: string): string => `${scene.environment["DRS_ADMIN_PUBLIC_URL"]}/admin/v1${path}`;

/** Signs in. @returns the page on which the sign-in ended. */
async function signIn(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(at("/sign-in"));
  await page.fill("input[name=name]", "1");
  await page.click("button");
  await page.waitForURL(at("/session"));
  return page;
}

const personOf = async (page: Page): Promise<unknown> =>
  (JSON.parse(await page.locator("body").innerText()) as { person?: unknown }).person;

/** Serves a page of another site. */
async function servePage(html: string): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

describe.skipIf(!hasChromium)("a person who signs in with Chromium (skipped without Chromium)", () => {
  test("has a session with a cookie that no script can read", async () => {
    const context = await browser.newContext();
    const page = await signIn(context);
    expect(await personOf(page)).toBe("j.doe");
    const cookies = (await context.cookies()).filter(({ name }) => name.startsWith("__Host-drs"));
    expect(cookies).toMatchObject([{ name: "__Host-drs-session", httpOnly: true, secure: true, sameSite: "Lax" }]);
    expect(await page.evaluate("document.cookie")).toBe("");
    await context.close();
  });

  test("signs a command in only by the button of the page, also after a link of another site", async () => {
    const command = await servePage("<p>signed in</p>");
    const query = { redirect_uri: `${command.url}callback`, state: "s".repeat(22), code_challenge: "c".repeat(43) };
    const link = at(`/cli-sign-in?${new URLSearchParams(query).toString()}`);
    const other = await servePage(`<a href="${link.replaceAll("&", "&amp;")}">win</a>`);
    const context = await browser.newContext();
    const page = await signIn(context);
    await page.goto(other.url);
    await page.click("a");
    await page.waitForURL(link);
    expect(await page.locator("body").innerText()).toContain("drs login");
    await page.click("button");
    await page.waitForURL((url) => url.href.startsWith(query.redirect_uri));
    expect(new URL(page.url()).searchParams.get("code")).toMatch(/^[\w-]{40,}$/);
    await context.close();
    other.server.close();
    command.server.close();
  });

  test.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])(
    "keeps the session when a page of another site posts a form of %s",
    async (type) => {
      const context = await browser.newContext();
      await signIn(context);
      const form = `<form id="f" method="post" enctype="${type}" action="${at("/sign-out")}"><input name='{"a"' value='1}'></form>`;
      const { url, server } = await servePage(`${form}<script>f.submit()</script>`);
      const other = await context.newPage();
      const answered = other.waitForResponse(at("/sign-out"));
      await other.goto(url);
      expect((await answered).status()).toBe(403);
      server.close();
      const page = await context.newPage();
      await page.goto(at("/session"));
      expect(await personOf(page)).toBe("j.doe");
      await context.close();
    },
  );

  test("signs out from a page of the same origin", async () => {
    const context = await browser.newContext();
    const page = await signIn(context);
    // The API's answers forbid scripts to connect (Content-Security-Policy), so the script runs on another page.
    await page.goto(`${scene.environment["DRS_ADMIN_PUBLIC_URL"]}/livez`);
    const status = "fetch('/admin/v1/sign-out', { method: 'POST' }).then(({ status }) => status)";
    expect(await page.evaluate(status)).toBe(200);
    expect(await context.cookies(at("/session"))).toEqual([]);
    await context.close();
  });
});
