/** The browser of tests and benchmarks, from the system's packages. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

export type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";

/** The headless shell is Chromium's engine without a window, and needs half of the processor time. */
const found = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

/** Tests of a browser are skipped without it. */
export const hasChromium = found !== undefined;

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: found ?? "chromium", args: ["--no-sandbox", "--disable-gpu"] });
