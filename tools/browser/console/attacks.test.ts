/** What a hostile phone, a hostile page and a person who was removed try with the console. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { send } from "../../../e2e/support/client.ts";
import { hasChromium, useConsole } from "./scene.ts";

const scene = useConsole();

const HOSTILE = [
  `<img src=x onerror="document.title='run'">`,
  `</script><script>document.title='run'</script>`,
  "javascript:document.title='run'",
  "\u202Egnp.exe\u2066",
  "a\u200Bb\u00AD",
  `e${"\u0301".repeat(200)}`,
  "line\nbreak\u0007\u001B[2J",
  `=HYPERLINK("http://evil.example")`,
  "__proto__",
  "constructor",
  "{{7*7}}${7*7}",
];

const deep = (levels: number): unknown => (levels === 0 ? "bottom" : { a: deep(levels - 1) });

/** Each text as the name of a probe, the name of a field, a value, a reason and an error. */
const HOSTILE_PROBES = Object.fromEntries([
  ...HOSTILE.map((text, index) => [
    `${text}${index}`,
    { status: "success", data: { [text]: text, list: [text, { [text]: text }] } },
  ]),
  ["__proto__", { status: "success", data: { polluted: true } }],
  ["fonts", { status: "error", error: HOSTILE[0] }],
  ["geolocation", { status: "skipped", reason: HOSTILE[1] }],
  ["network", { status: "success", data: { deep: deep(40), token: "x".repeat(20_000) } }],
]) as Readonly<Record<string, unknown>>;

const ACCOUNT = `<b>4711</b>\u202E"'`;
let hostile = "";
let plain = "";

beforeAll(async () => {
  if (!hasChromium) return;
  plain = await scene.store(ACCOUNT, "full-android");
  hostile = await scene.store(ACCOUNT, HOSTILE_PROBES);
});

async function openCase(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Open the observations" }).click();
  await page.getByLabel("Reason").fill("to see hostile texts");
  await page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
  await page.locator(".strip").waitFor();
}

/** Serves a page of another origin, until the end of the test. */
async function otherSite(html: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end(html));
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

describe.skipIf(!hasChromium)("the console (skipped without Chromium)", () => {
  test("shows hostile texts of a phone as texts on every page", async () => {
    const page = await scene.signIn("ines", ["investigator"]);
    const alerts: string[] = [];
    page.on("dialog", (dialog) => void (alerts.push(dialog.message()), dialog.dismiss()));
    await page.goto(`${scene.url}/events?account=${encodeURIComponent(ACCOUNT)}`);
    await page.getByRole("row").nth(2).waitFor();
    await page.goto(`${scene.url}/events/${hostile}`);
    await openCase(page);
    await page.getByRole("button", { name: /Read them under case/ }).click();
    const exact = await page.getByLabel("Exact text").innerText();
    const shown = await page.locator("body").innerText();
    expect(shown).toContain(`<img src=x onerror=`);
    expect(shown).toContain("\\u{202e}gnp.exe");
    expect(exact).toContain("\\u{202e}");
    // No character that a reader can't see, or that moves others, reaches the page in a value.
    for (const hidden of ["\u0007", "\u001B", "\u200B", "\u00AD"]) expect(shown).not.toContain(hidden);
    await page.goto(`${scene.url}/events/${hostile}/compare/${plain}`);
    await page.getByRole("button", { name: /^Only one reported it/ }).click();
    await page.getByRole("row").nth(2).waitFor();
    expect(await page.title()).toBe("Device Risk Signals");
    expect(await page.evaluate("({}).polluted")).toBeUndefined();
    expect(alerts).toEqual([]);
    expect(scene.takeMessages()).toEqual([]);
  });

  test("runs no script that got into a page, and makes no markup of a text", async () => {
    const page = await scene.signIn("ines", ["investigator"]);
    const inject = `const s = document.createElement("script"); s.textContent = "document.title='run'"; document.body.append(s)`;
    await expect(page.evaluate(inject)).rejects.toThrow(/TrustedScript/);
    await expect(page.evaluate("document.body.innerHTML = '<b>x</b>'")).rejects.toThrow(/TrustedHTML/);
    expect(await page.title()).toBe("Device Risk Signals");
    scene.takeMessages();
  });

  test("has no credential that a script can read, and forgets the code of its link", async () => {
    const link = await scene.link("ann");
    const page = await (await scene.context()).newPage();
    const addresses: string[] = [];
    page.on("framenavigated", (frame) => void addresses.push(frame.url()));
    await page.goto(link);
    await page.getByRole("navigation", { name: "Screens" }).waitFor();
    const stores = "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}, location.href])";
    const code = new URL(link).hash.slice(1);
    expect(await page.evaluate<string>(stores)).not.toContain(code);
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.goBack();
    expect(page.url()).not.toContain(code);
    // The address had the code only until the page ran.
    expect(addresses.slice(1).join()).not.toContain(code);
    const again = await (await scene.context()).newPage();
    await again.goto(link);
    await again.getByText("The link was used").waitFor();
    scene.takeMessages();
  });

  test("takes no fragment of another page for the code of a link", async () => {
    const page = await (await scene.context()).newPage();
    await page.goto(`${scene.url}/events/${plain}#probe-3`);
    await page.getByText("npx drs console link").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    scene.takeMessages();
  });

  test("shows nothing after the sign-out, also by the button back", async () => {
    const page = await scene.signIn("ines", ["investigator"]);
    await page.goto(`${scene.url}/events/${plain}`);
    await page.getByText("Idempotency key", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("npx drs console link").waitFor();
    await page.goBack();
    await page.getByText("npx drs console link").waitFor();
    expect(await page.locator("body").innerText()).not.toContain(plain);
    scene.takeMessages();
  });

  test.each(["//evil.example/x", "https://evil.example/", "javascript:document.title='run'", "/\\evil.example"])(
    "returns after the sign-in to no other origin: %s",
    async (to) => {
      const link = new URL(await scene.link("ann"));
      link.searchParams.set("return", to);
      const page = await (await scene.context()).newPage();
      await page.goto(link.href);
      await page.getByRole("navigation", { name: "Screens" }).waitFor();
      expect(new URL(page.url()).origin).toBe(scene.url);
      expect(await page.title()).toBe("Device Risk Signals");
      scene.takeMessages();
    },
  );

  test("can't be framed, and no request of another site carries the session", async () => {
    const context = await scene.context();
    await scene.signIn("ines", ["investigator"], context);
    const site = await otherSite(`<iframe src="${scene.url}/events"></iframe>`);
    const page = await context.newPage();
    await page.goto(site);
    await expect.poll(() => scene.takeMessages().join()).toMatch(/frame-ancestors/);
    const read = `fetch("${scene.url}/admin/v1/session", { credentials: "include", mode: "no-cors" }).then(() => "answer", () => "blocked")`;
    expect(await page.evaluate(read)).toBe("blocked");
    const post = `fetch("${scene.url}/admin/v1/sign-out", { method: "POST", credentials: "include", mode: "no-cors" }).then(() => 1, () => 1)`;
    await page.evaluate(post);
    const own = await context.newPage();
    await own.goto(`${scene.url}/events`);
    await own.getByRole("row").nth(1).waitFor();
    scene.takeMessages();
  });

  test("is not served under a name of another site (DNS rebinding)", async () => {
    for (const path of ["/", "/events", "/sign-in"]) {
      const headers = { Host: "evil.example", Accept: "text/html" };
      expect((await send({ url: scene.url, method: "GET", path, headers })).status).toBe(421);
    }
  });

  test("leads to the sign-in when the session was ended under an open page, and back afterwards", async () => {
    const page = await scene.signIn("eve", ["investigator"]);
    await page.getByRole("row").nth(1).waitFor();
    await scene.drs("session", "revoke", "--person", "eve");
    await page.locator(".row-link").first().click();
    await page.getByText("npx drs console link").waitFor();
    expect(new URL(page.url()).searchParams.get("return")).toMatch(/^\/events\//);
    scene.takeMessages();
  });

  test("works after a restart of the server under an open page", async () => {
    const page = await scene.signIn("ines", ["investigator"]);
    await page.getByRole("row").nth(1).waitFor();
    await scene.restart();
    await page.locator(".row-link").first().click();
    await page.getByText("Idempotency key", { exact: true }).waitFor();
    scene.takeMessages();
  });
});
