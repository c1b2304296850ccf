/** The console below a path of a proxy that terminates TLS. */
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedDatabase, type TestDatabase } from "../../../e2e/support/database.ts";
import { makeCertificate } from "../../../e2e/support/certificate.ts";
import { freePort } from "../../../e2e/support/free-port.ts";
import { type SignInServer, startSignInServer } from "../../../e2e/support/sign-in-server.ts";
import { useFolder } from "../../../e2e/support/use-folder.ts";
import { hasChromium, launchChromium } from "../chromium.ts";

const PREFIX = "/ops/devices";

const folder = useFolder();
let database: TestDatabase;
let scene: SignInServer;
let proxy: Server;
let browser: Browser;
let publicUrl: string;

beforeAll(async () => {
  if (!hasChromium) return;
  const port = await freePort();
  publicUrl = `https://localhost:${port}${PREFIX}`;
  database = await sharedDatabase();
  scene = await startSignInServer(await database.environment(), folder(), { address: publicUrl });
  proxy = await startProxy(port, Number(new URL(scene.server.adminUrl).port));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  proxy?.close();
  await scene?.stop();
  await database?.close();
});

/** Removes the path, as the proxy of the guide does. */
async function startProxy(port: number, target: number): Promise<Server> {
  const { cert, key } = await makeCertificate(folder(), "localhost");
  const tls = { cert: await readFile(cert), key: await readFile(key) };
  return createServer(tls, (from, to) => {
    const { method, headers, url = "" } = from;
    const path = url.startsWith(`${PREFIX}/`) ? url.slice(PREFIX.length) : "/of-another-application";
    from.pipe(
      request({ host: "127.0.0.1", port: target, method, path, headers }, (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(to);
      }),
    );
  }).listen(port);
}

describe.skipIf(!hasChromium)("a person behind a proxy (skipped without Chromium)", () => {
  test("signs in, moves, copies links and signs out, all below its path", async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const messages: string[] = [];
    context.on("console", (message) => {
      // The pages of the identity provider have no icon.
      if (message.type() === "error" && message.location().url.startsWith(publicUrl)) messages.push(message.text());
    });
    context.on("weberror", (error) => void messages.push(String(error.error())));
    const page = await context.newPage();
    await page.goto(`${publicUrl}/holds`);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.fill("input[name=name]", "1");
    await page.click("button");
    await page.waitForURL(`${publicUrl}/holds`);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.waitForURL(`${publicUrl}/`);
    await page.getByRole("link", { name: "Audit", exact: true }).click();
    await page.waitForURL(`${publicUrl}/audit`);
    await page.getByRole("heading", { name: "Audit", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${publicUrl}/audit`);
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${publicUrl}/sign-in`);
    // After the sign-out a call finds no session.
    expect(messages.filter((text) => !text.includes("401"))).toEqual([]);
  });

  test("gets a page of a refused sign-in whose link stays below the path", async () => {
    scene.provider.people.set("9", { groups: ["others"] });
    const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
    await page.goto(`${publicUrl}/admin/v1/sign-in?return=/holds`);
    await page.fill("input[name=name]", "9");
    await page.click("button");
    const again = page.getByRole("link", { name: "Sign in again" });
    expect(await again.getAttribute("href")).toBe(`${PREFIX}/admin/v1/sign-in`);
  });
});
