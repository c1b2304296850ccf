/** Measures in a page, from the browser's own clock and painting. */
import type { Page } from "../../../tools/browser/chromium.ts";

/**
 * `painted(isShown)` resolves with the page's time, in milliseconds, after the painting that first shows what
 * `isShown` finds. `longestTask` is the time of the longest task of at least 50 ms, which is what browsers call long.
 */
const STOPWATCH = `
  globalThis.longestTask = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask = Math.max(longestTask, duration);
  }).observe({ type: "longtask", buffered: true });
  globalThis.painted = (isShown) => new Promise((resolve) => {
    const look = () => {
      if (!isShown()) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { childList: true, subtree: true, characterData: true });
    look();
  });
`;

/** @param script runs at the start of each document, after the stopwatch was made. */
export const addStopwatch = (page: Page, script = ""): Promise<unknown> => page.addInitScript(`${STOPWATCH}${script}`);

export interface Shown {
  readonly ms: number;
  /** 0: no long task. */
  readonly longestTaskMs: number;
}

/** Presses a button. @param isShown an expression of the page. @returns the time until what it finds is painted. */
export const timePress = (page: Page, button: string, isShown: string): Promise<Shown> =>
  page.evaluate<Shown>(`(async () => {
    longestTask = 0;
    const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent.includes(${JSON.stringify(button)}));
    const started = performance.now();
    button.click();
    const ms = (await painted(() => ${isShown})) - started;
    // The browser reports a long task after its end.
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { ms, longestTaskMs: longestTask };
  })()`);
