import type { BrowserContext } from "../../../tools/browser/chromium.ts";
import { median } from "../median.ts";
import { addStopwatch } from "./stopwatch.ts";

const LOADS = 9;
const SLOWER = 4;

/**
 * Loads the overview without a cache and with a slower processor. @returns the median time, in milliseconds, from the
 * start of the navigation until the heading and until the last events are painted.
 */
export async function measureFirstSight(
  context: BrowserContext,
  url: string,
): Promise<{ readonly headMs: number; readonly eventsMs: number }> {
  const times: { head: number; events: number }[] = [];
  for (let load = 0; load < LOADS; load++) {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    await addStopwatch(
      page,
      `globalThis.sights = Promise.all(["main h1", "main tbody tr"].map((shown) => painted(() => document.querySelector(shown))));`,
    );
    await page.goto(url);
    const [head = Number.NaN, events = Number.NaN] = await page.evaluate<readonly number[]>("sights");
    times.push({ head, events });
    await page.close();
  }
  return { headMs: median(times.map(({ head }) => head)), eventsMs: median(times.map(({ events }) => events)) };
}
