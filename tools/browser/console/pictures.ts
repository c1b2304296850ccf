/**
 * `npm run console:pictures`: makes the pictures of the documents from a demo in Chromium, so that they show what the
 * pages are.
 */
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { runAsGiven } from "../../../e2e/support/command.ts";
import { makeEmptyHome } from "../../../e2e/support/embedded.ts";
import { freePort } from "../../../e2e/support/free-port.ts";
import { startServer } from "../../../e2e/support/server.ts";
import { launchChromium } from "../chromium.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/console");
const MAX_BYTES = 120_000;
const WIDTH = 1_040;
const HEIGHT = 600;

interface Picture {
  readonly name: string;
  readonly path: string;
  /** What is on the page when it is complete. */
  readonly shown: string;
  /** Of the window; default: 600. */
  readonly height?: number;
  /** What the person does first. */
  readonly act?: (page: Page) => Promise<void>;
}

/** What each person does with the console; docs/console.md has a heading for each. */
const PEOPLE: readonly { readonly role: string; readonly pictures: readonly Picture[] }[] = [
  {
    role: "investigator",
    pictures: [
      { name: "search", path: "/events", shown: "tbody tr" },
      {
        name: "event",
        path: "/events?account=customer-18",
        shown: "nav[aria-label^=Compare]",
        act: openFirstEvent,
        height: 780,
      },
    ],
  },
  {
    role: "operator",
    pictures: [
      { name: "rejections", path: "/rejections?days=30", shown: "details[open]", act: openFirst("summary") },
      { name: "overview", path: "/", shown: "tbody tr" },
      { name: "capacity", path: "/health", shown: "main h2", act: scrollToCapacity },
    ],
  },
  {
    role: "analyst",
    pictures: [
      { name: "probes", path: "/probes?days=30&by=os", shown: ".matrix-cell", height: 560 },
      { name: "new-fields", path: "/drift", shown: "tbody tr" },
      { name: "feature", path: "/features/root_traces@1", shown: "main svg" },
      { name: "versions", path: "/features/root_traces@1/compare/root_traces@2", shown: "main table, main svg" },
    ],
  },
  {
    role: "privacy",
    pictures: [
      { name: "requests", path: "/requests", shown: "main table, main article" },
      { name: "erasure", path: "/erasures?account=customer-2", shown: ".counts" },
    ],
  },
  {
    role: "auditor",
    pictures: [
      { name: "audit", path: "/audit", shown: "tbody tr" },
      { name: "entries", path: "/audit/entries", shown: "tbody tr" },
    ],
  },
];

async function openFirstEvent(page: Page): Promise<void> {
  await page.locator(".row-link").first().click();
  await page.getByRole("button", { name: "Open the observations" }).click();
  await page.getByLabel("Reason").fill("the customer says that he was blocked");
  await page.getByLabel("Ticket").fill("FR-4711");
  await page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
}

async function scrollToCapacity(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Capacity" }).waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
}

function openFirst(selector: string): (page: Page) => Promise<void> {
  return (page) => page.locator(selector).first().click();
}

async function takePictures(browser: Browser, link: string, pictures: readonly Picture[]): Promise<void> {
  const context = await browser.newContext({ colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("navigation", { name: "Screens" }).waitFor();
  for (const { name, path, shown, height = HEIGHT, act } of pictures) {
    await page.setViewportSize({ width: WIDTH, height });
    await page.goto(new URL(path, link).href);
    await act?.(page);
    await page.locator(shown).filter({ visible: true }).first().waitFor();
    await page.locator(".skeleton, .tile-value:text-is('…')").first().waitFor({ state: "detached" });
    const file = join(FOLDER, `${name}.png`);
    await page.screenshot({ path: file });
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}`);
  }
  await context.close();
}

await mkdir(FOLDER, { recursive: true });
const home = await makeEmptyHome();
const environment = { ...home.environment, DRS_ADMIN_PORT: String(await freePort()) };
const drs = async (...args: readonly string[]): Promise<string> => (await runAsGiven(environment, ...args)).stdout;
await drs("demo", "--yes");
const server = await startServer(environment);
const browser = await launchChromium();
try {
  for (const { role, pictures } of PEOPLE) {
    const printed = await drs("console", "link", "--person", "ann", "--role", role);
    await takePictures(browser, printed.split("\n")[0] ?? "", pictures);
  }
} finally {
  await browser.close();
  await server.stop();
  await home.remove();
}
