/**
 * `npm run console:pictures`: makes the pictures of the documents from a demo in Debian's Chromium, so that they show
 * what the pages are.
 */
import { join } from "node:path";
import { chromium } from "playwright-core";
import { runAsGiven } from "../../../e2e/support/command.ts";
import { makeEmptyHome } from "../../../e2e/support/embedded.ts";
import { freePort } from "../../../e2e/support/free-port.ts";
import { startServer } from "../../../e2e/support/server.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/console");

const home = await makeEmptyHome();
const environment = { ...home.environment, DRS_ADMIN_PORT: String(await freePort()) };
const drs = async (...args: readonly string[]): Promise<string> => (await runAsGiven(environment, ...args)).stdout;
await drs("demo", "--yes");
const server = await startServer(environment);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const picture = (name: string) => page.screenshot({ path: join(FOLDER, `${name}.png`) });
  await page.goto((await drs("console", "link", "--person", "ann")).split("\n")[0] ?? "");
  await page.getByRole("heading", { name: "The last events" }).waitFor();
  await page.goto(`${server.adminUrl}/events?account=customer-2`);
  await page.locator(".row-link").first().click();
  await page.getByRole("button", { name: "Open the observations" }).click();
  await page.getByLabel("Reason").fill("the customer says that he was blocked");
  await page.getByLabel("Ticket").fill("FR-4711");
  await page.getByRole("dialog").getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("navigation", { name: /Compare/ }).waitFor();
  await picture("event");
  await page.goto(`${server.adminUrl}/probes?days=30&by=os`);
  await page.locator(".matrix-cell").first().waitFor();
  await picture("probes");
  await page.goto(`${server.adminUrl}/requests`);
  await page.locator("main").locator("table, article").first().waitFor();
  await picture("requests");
} finally {
  await browser.close();
  await server.stop();
  await home.remove();
}
