/** The live view while events arrive: when it shows one, and what it costs the browser. */
import { setTimeout as sleep } from "node:timers/promises";
import { authorized, send, transport } from "../../../e2e/support/client.ts";
import type { BrowserContext } from "../../../tools/browser/chromium.ts";
import type { FilledServer } from "../filled-server.ts";
import { percentile } from "../read-latencies.ts";
import { addStopwatch } from "./stopwatch.ts";

const MARKERS = 100;
const MARKER_INTERVAL_MS = 330;
const MEBIBYTE = 1_048_576;

/** Remembers when each SDK version of a marker was painted. */
const WATCH = `
  globalThis.seen = {};
  const look = () => {
    const text = document.querySelector("tbody")?.textContent ?? "";
    for (const [, number] of text.matchAll(/marker-(\\d+)-/g)) seen[number] ??= Date.now();
  };
  new MutationObserver(() => requestAnimationFrame(() => setTimeout(look)))
    .observe(document, { childList: true, subtree: true });
`;

export interface TailFigures {
  /** From the answer 201 until it is painted. An event that the page never shows counts as infinitely late. */
  readonly visibleMs: number;
  readonly neverShown: number;
  /** Milliseconds of each second in which the page's main thread works. */
  readonly mainThreadMs: number;
  /** Of JavaScript, after garbage was collected. */
  readonly heapMebibytes: number;
}

export async function measureTail(
  context: BrowserContext,
  { adminUrl, target }: FilledServer,
  minutes: number,
): Promise<TailFigures> {
  const page = await context.newPage();
  await addStopwatch(page, WATCH);
  await page.goto(`${adminUrl}/live`);
  await page.locator("tbody tr").first().waitFor();
  const devtools = await context.newCDPSession(page);
  // Time of the processor, because other programs use the machine, too.
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const metric = async (name: string): Promise<number> =>
    (await devtools.send("Performance.getMetrics")).metrics.find((one) => one.name === name)?.value ?? Number.NaN;

  const [began, busyBefore] = [performance.now(), await metric("TaskDuration")];
  const answered = await sendMarkers(target);
  await sleep(Math.max(0, minutes * 60_000 - (performance.now() - began)));
  const mainThreadMs = (((await metric("TaskDuration")) - busyBefore) * 1_000) / ((performance.now() - began) / 1_000);
  await devtools.send("HeapProfiler.collectGarbage");
  const heapMebibytes = (await metric("JSHeapUsedSize")) / MEBIBYTE;
  const seen = await page.evaluate<Readonly<Record<string, number>>>("seen");
  await page.close();

  const delays = answered.map((at, number) => (seen[number] ?? Number.POSITIVE_INFINITY) - at);
  const visibleMs = percentile(
    delays.toSorted((a, b) => a - b),
    0.95,
  );
  return { visibleMs, neverShown: delays.filter((delay) => delay === Infinity).length, mainThreadMs, heapMebibytes };
}

/** Sends events that their SDK version marks. @returns when each was answered. */
async function sendMarkers({ url, account, token, actionId }: FilledServer["target"]): Promise<readonly number[]> {
  const who = { account, token, actionId, actionType: "payment", sessionId: "marked" };
  const answered: number[] = [];
  for (let number = 0; number < MARKERS; number++) {
    const request = { ...transport(who), sdk_version: `marker-${number}-` };
    const { status, text } = await send({ url, headers: authorized(who), body: JSON.stringify(request) });
    if (status !== 201) throw new Error(text);
    answered.push(Date.now());
    await sleep(MARKER_INTERVAL_MS);
  }
  return answered;
}
